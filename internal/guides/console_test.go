package guides_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// consoleLink matches an entry of the console's table of guides: a path and page#heading.
var consoleLink = regexp.MustCompile(`(?m)^  '(/[^']*)': '([^'#]+)#([^']+)',$`)

// Each page of the console links to a heading that exists.
func TestHeadingsOfTheConsole(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../web/src/app/guides.ts")
	if err != nil {
		t.Fatal(err)
	}
	links := consoleLink.FindAllStringSubmatch(string(table), -1)
	entries := strings.Count(string(table), "\n  '/") - strings.Count(string(table), ": null,\n")
	if len(links) != entries || entries < 40 {
		t.Fatalf("%d of %d entries are page#heading", len(links), entries)
	}
	s := start(t)
	headings := map[string]map[string]bool{}
	for _, link := range links {
		path, page, heading := link[1], link[2], link[3]
		if headings[page] == nil {
			headings[page] = map[string]bool{}
			walk(t, get(t, s.URL+"/below/docs/"+page).body, func(n *html.Node, attr map[string]string) {
				if len(n.Data) == 2 && n.Data[0] == 'h' {
					headings[page][attr["id"]] = true
				}
			})
		}
		if !headings[page][heading] {
			t.Errorf("%s links to /docs/%s#%s, which does not exist", path, page, heading)
		}
	}
}
