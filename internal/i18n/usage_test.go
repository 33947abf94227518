package i18n_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// messageKey matches message keys in the source.
var messageKey = regexp.MustCompile(`^(error|validation)\.[A-Za-z_]+$`)

// Every message key in the source exists, and every error code has a message.
func TestKeysOfTheProgram(t *testing.T) {
	t.Parallel()
	c := load(t)
	used, codes := sourceKeys(t)
	for key, where := range used {
		if !c.Has(key) {
			t.Errorf("%s: no message has the key %s", where, key)
		}
	}
	for code, where := range codes {
		if key := "error." + code; !c.Has(key) {
			t.Errorf("%s: no message %s for the code", where, key)
		}
	}
}

// sourceKeys collects the message keys in string literals and the codes of internal/fault/codes.go,
// each with a position.
func sourceKeys(t *testing.T) (used, codes map[string]string) {
	t.Helper()
	used, codes = map[string]string{}, map[string]string{}
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if kit := filepath.Base(filepath.Dir(path)); strings.HasSuffix(kit, "test") {
			return nil // a test kit reads responses of other services
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		inCodes := strings.HasSuffix(filepath.ToSlash(path), "internal/fault/codes.go")
		ast.Inspect(file, func(n ast.Node) bool {
			if _, imports := n.(*ast.ImportSpec); imports {
				return false
			}
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			value, err := strconv.Unquote(literal.Value)
			switch where := files.Position(literal.Pos()).String(); {
			case err != nil:
			case inCodes:
				codes[value] = where
			case messageKey.MatchString(value):
				used[value] = where
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(used) == 0 || len(codes) == 0 {
		t.Fatalf("found %d keys and %d codes", len(used), len(codes))
	}
	return used, codes
}
