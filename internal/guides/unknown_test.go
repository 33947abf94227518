package guides_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// An unknown address of the reference suggests the pages with the most similar names.
func TestUnknownOperation(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, want := range map[string]string{
		"api/usage/record-usages": `<a href="../../api/usage/record-usage">`, "api/recordUsage": `<a href="../api/usage/record-usage">`,
		"api/usage/listQuota.html": `<a href="../../api/usage/list-quotas">`, "api/events/invoice.payed": `<a href="../../api/events/invoice.paid">`,
	} {
		page := get(t, s.URL+"/below/docs/"+name)
		if page.status != http.StatusNotFound || page.final.Path != "/below/docs/"+name || !strings.Contains(page.body, "Did you mean") || !strings.Contains(page.body, want) {
			t.Errorf("%s: %d at %s without %s", name, page.status, page.final.Path, want)
		}
		walk(t, page.body, func(n *html.Node, attr map[string]string) {
			if n.Data != "script" && n.Data != "link" {
				return
			}
			to, err := page.final.Parse(attr["src"] + attr["href"])
			if err != nil {
				t.Fatal(err)
			}
			if got := get(t, to.String()); got.status != http.StatusOK {
				t.Errorf("%s loads %s: %d", name, to, got.status)
			}
		})
	}
	if page := get(t, s.URL+"/below/docs/api/usage/xylophone-quagga"); page.status != http.StatusNotFound || strings.Contains(page.body, "Did you mean") {
		t.Errorf("an address without similar names: %d", page.status)
	}
}

// An unknown address of the guides suggests the guides with the most similar names.
func TestUnknownGuide(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, want := range map[string]string{
		"metring": `<a href="metering">`, "quickstart": `<a href="quick-start">`, "rules/subscriptions": `<a href="../rules/subscription">`,
	} {
		page := get(t, s.URL+"/below/docs/"+name)
		if page.status != http.StatusNotFound || page.final.Path != "/below/docs/"+name || !strings.Contains(page.body, "Did you mean") || !strings.Contains(page.body, want) {
			t.Errorf("%s: %d at %s without %s", name, page.status, page.final.Path, want)
		}
		walk(t, page.body, func(_ *html.Node, attr map[string]string) {
			to, err := page.final.Parse(attr["src"] + attr["href"])
			if err != nil {
				t.Fatal(err)
			}
			if got := get(t, to.String()); attr["src"]+attr["href"] != "" && to.Fragment == "" && got.status != http.StatusOK {
				t.Errorf("%s leads to %s: %d", name, to, got.status)
			}
		})
	}
	if page := get(t, s.URL+"/below/docs/xylophone-quagga"); page.status != http.StatusNotFound || strings.Contains(page.body, "Did you mean") {
		t.Errorf("an address without similar names: %d", page.status)
	}
}

// The address of a group of operations, or of all events, leads to its section of the reference.
func TestSectionsOfTheReference(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, want := range map[string]string{
		"api/usage": "usage", "api/usage/": "usage", "api/events": "events", "api/api-keys": "api-keys",
	} {
		page := get(t, s.URL+"/below/docs/"+name)
		if page.status != http.StatusOK || page.final.Path != "/below/docs/api" || page.final.Fragment != want || !strings.Contains(page.body, `<h2 id="`+want+`">`) {
			t.Errorf("%s: %d at %s", name, page.status, page.final)
		}
	}
}
