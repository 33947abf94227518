package arch

import (
	"strings"
	"testing"
)

// TestImportPermissionsAreUsed checks that the tables contain no unused permission.
func TestImportPermissionsAreUsed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{} // "from to", by folders of internal; "to" alone for all
	libraryUsed := map[string]bool{}
	for _, p := range packages(t) {
		path, from := place(p.ImportPath)
		if own := strings.TrimPrefix(path, "internal/"); domains[own] != nil {
			from = own
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module) {
				_, to := place(imported)
				used[from+" "+to], used[to] = true, true
			}
			for _, library := range libraries {
				for _, allowed := range library.allowed {
					if strings.HasPrefix(imported, library.prefix) && (path == allowed || strings.HasPrefix(path, allowed+"/")) {
						libraryUsed[library.prefix+" "+allowed] = true
					}
				}
			}
		}
	}
	for from, allowed := range domains {
		for _, to := range allowed {
			if !used[from+" "+to] {
				t.Errorf("unused import permission: %s does not import %s", from, to)
			}
		}
	}
	for _, to := range platform {
		if !used[to] {
			t.Errorf("unused import permission: no package imports %s", to)
		}
	}
	for from, allowed := range map[string][]string{"settings": settings} {
		for _, to := range allowed {
			if !used[from+" "+to] {
				t.Errorf("unused import permission: %s does not import %s", from, to)
			}
		}
	}
	for _, library := range libraries {
		for _, allowed := range library.allowed {
			if !libraryUsed[library.prefix+" "+allowed] {
				t.Errorf("unused import permission: %s does not import %s", allowed, library.prefix)
			}
		}
	}
}
