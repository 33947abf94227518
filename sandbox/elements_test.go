package sandbox

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The page of the web components works under a strict policy: it has no inline scripts, styles or
// event handlers. Without the components, the page and the link to it do not exist.
func TestElements(t *testing.T) {
	t.Parallel()
	without := world(t)
	if rec := request(without, "GET", "/sandbox/elements", ""); rec.Code != http.StatusNotFound {
		t.Errorf("without components: %d", rec.Code)
	}
	if page := request(without, "GET", "/sandbox", "").Body.String(); strings.Contains(page, "/sandbox/elements") {
		t.Error("first page links to missing components")
	}
	w := world(t)
	w.Show(Access{Elements: true})
	if page := request(w, "GET", "/sandbox", "").Body.String(); !strings.Contains(page, `href="/sandbox/elements"`) {
		t.Error("the first page does not link to the components")
	}
	inline := regexp.MustCompile(`<script>|<style| style=| on[a-z]+=`)
	for query, name := range map[string]string{"": "pricing", "?show=team": "team", "?show=billing": "billing", "?show=usage": "usage", "?show=account": "account", "?show=none": "pricing"} {
		rec := request(w, "GET", "/sandbox/elements"+query, "")
		page := rec.Body.String()
		for _, want := range []string{"<tenantry-" + name + " ", `src="/elements/v1/` + name + `.js"`, `aria-current="page">` + strings.ToUpper(name[:1])} {
			if !strings.Contains(page, want) {
				t.Errorf("%q: no %s", query, want)
			}
		}
		if found := inline.FindString(page); found != "" {
			t.Errorf("%q has %q in the page", query, found)
		}
		policy := rec.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "connect-src 'self'") || !strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%q: %s", query, policy)
		}
	}
	if rec := request(w, "GET", "/sandbox/elements.js", ""); rec.Code != http.StatusOK || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/javascript") {
		t.Error(rec.Code, rec.Header())
	}
}
