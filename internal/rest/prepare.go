package rest

import (
	"fmt"
	"net/http"
	"sync"
)

// prepared is the handler of a route, which is made at the route's first request. Rules and
// schemas of the whole table would take an eighth of the time of a start and some MiB of memory,
// and most routes of most processes are never asked for (docs/adr/0035).
type prepared struct {
	// prepare makes the handler, once. It panics, each time, on a body that cannot be described
	// or has a rule that is not enforced.
	prepare func()
	handler http.Handler
}

// add puts a route into the router. HEAD is answered like GET, without the body.
func (a *API) add(r Route) {
	defer naming(r)
	r.check()
	if a.prepared[r.ID()] != nil {
		panic("there is another route like it")
	}
	p := &prepared{prepare: sync.OnceFunc(func() { a.prepare(r) })}
	a.prepared[r.ID()] = p
	a.router.Method(r.Method, r.Path, p)
	if r.Method == http.MethodGet {
		a.router.Method(http.MethodHead, r.Path, p)
	}
}

// ServeHTTP answers a request.
func (p *prepared) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.prepare()
	p.handler.ServeHTTP(w, r)
}

// prepare registers a route with what is needed for its requests and for the document.
func (a *API) prepare(r Route) {
	a.preparing.Lock()
	defer a.preparing.Unlock()
	defer naming(r)
	r.Handler.register(a, r)
	a.settleSchemas()
}

// naming makes a panic about a route name it.
func naming(r Route) {
	if reason := recover(); reason != nil {
		panic(fmt.Sprintf("route %s %s: %v", r.Method, r.Path, reason))
	}
}

// handle makes h, behind the checks of the route, its handler.
func (a *API) handle(op *operation, h http.Handler) {
	a.prepared[op.route.ID()].handler = a.protect(op, h)
}
