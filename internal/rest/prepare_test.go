package rest_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/rest"
)

// Routes are prepared by whoever asks first, in any order and at once, and the document is the
// same as if nobody had asked before.
func TestRoutesArePreparedAtTheirFirstRequest(t *testing.T) {
	t.Parallel()
	untouched, asked := start(t, routes()), start(t, routes())
	var wg sync.WaitGroup
	for _, r := range routes() {
		if r.Scope == rest.Public {
			continue // some of them hang or break off, which other tests look at
		}
		for range 3 {
			wg.Go(func() {
				path := strings.NewReplacer("{", "", "}", "").Replace(r.Path)
				if got := asked.do(r.Method, path, `{}`); got.Status != 401 {
					t.Errorf("%s %s: %d %s", r.Method, path, got.Status, got.Body)
				}
			})
		}
	}
	wg.Wait()
	if want, got := untouched.get("/openapi.json").Body, asked.get("/openapi.json").Body; got != want {
		t.Errorf("the document of %d bytes has %d bytes after requests", len(want), len(got))
	}
}

// A body that cannot be described is a programming error: each request for its route is answered
// 500 and logged, and other routes go on.
func TestARouteThatCannotBePrepared(t *testing.T) {
	t.Parallel()
	good := routes()[5]
	bad := good
	bad.Method, bad.Path = "POST", "/api/v1/emial"
	bad.Handler = handleBody[struct {
		Name string `json:"name" format:"emial"`
	}]()
	s := start(t, []rest.Route{good, bad})
	for range 2 {
		if got := s.do("POST", bad.Path, `{}`); got.Status != 500 || strings.Contains(got.Body, "emial") {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	if text := s.log.String(); !strings.Contains(text, "route POST /api/v1/emial: unknown format emial") {
		t.Errorf("the log does not say why:\n%s", text)
	}
	if got := s.get(good.Path); got.Status != 401 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// A route of GET is one of HEAD, too, also when HEAD comes first.
func TestHeadPreparesToo(t *testing.T) {
	t.Parallel()
	good := routes()[5]
	s := start(t, []rest.Route{good})
	for _, method := range []string{"HEAD", "GET"} {
		if got := s.do(method, good.Path, ""); got.Status != 401 {
			t.Errorf("%s: %d %s", method, got.Status, got.Body)
		}
	}
}
