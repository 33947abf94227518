package rest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/rest"
)

func TestUnknownRouteAndMethod(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for _, path := range []string{"/", "/api/v1/nothing", "/api/v1/me/", "//api/v1/me", "/api/v1/gadgets/1/2"} {
		s.get(path).refused(http.StatusNotFound)
	}
	for _, tt := range []struct{ method, path, allow string }{
		{"DELETE", "/api/v1/gadgets", "GET, HEAD, POST"},
		{"GET", "/api/v1/gadgets/5", "DELETE, PATCH"},
		{"GET", "/api/v1/gadgets/a%2Fb", "DELETE, PATCH"},
		{"HEAD", "/api/v1/login", "POST"},
		{"OPTIONS", "/api/v1/login", "POST"},
		{"TRACE", "/api/v1/login", "POST"},
		{"FOO", "/api/v1/login", "POST"},
		{"POST", "/openapi.json", "GET, HEAD"},
	} {
		got := s.do(tt.method, tt.path, "")
		if got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d, Allow %q", tt.method, tt.path, got.Status, got.Header.Get("Allow"))
		}
		if tt.method != "HEAD" {
			got.refused(http.StatusMethodNotAllowed)
		}
	}
	s.do("FOO", "/nowhere", "").refused(http.StatusNotFound)
}

func TestHead(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	get, head := s.get("/api/v1/show"), s.do("HEAD", "/api/v1/show", "")
	if head.Status != http.StatusOK || head.Body != "" || head.Header.Get("Content-Length") != get.Header.Get("Content-Length") {
		t.Errorf("%d %v", head.Status, head.Header)
	}
	if got := s.do("HEAD", "/api/v1/me", ""); got.Status != http.StatusUnauthorized {
		t.Errorf("HEAD bypasses the guards: %d", got.Status)
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	const want = `{"data":{"text":"<&> broken ` + "\ufffd" + `","list":[],"gaps":[],"texts":{},"at":"2026-01-31T08:15:30.123456Z",` +
		`"never":null,"meta":null,"maker":null},"message":"gadget.shown"}`
	for _, accept := range []string{"", "*/*", "text/html", "application/cbor", "json", "application/json;q=0"} {
		got := s.get("/api/v1/show", "Accept: "+accept)
		if got.Status != 200 || got.Body != want || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("Accept %q: %d %v\n%s", accept, got.Status, got.Header, got.Body)
		}
	}
	if got := s.get("/api/v1/me", "Authorization: Bearer owner"); got.Status != 204 || got.Header.Get("Content-Type") != "" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	if got := s.do("POST", "/api/v1/hook", "x", "Content-Type: text/plain"); got.Body != "raw" {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// Internal errors appear in the log, but not in the response.
func TestAccidents(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for path, message := range map[string]string{
		"/api/v1/panic": "panic", "/api/v1/accident": "request failed", "/api/v1/unencodable": "request failed",
	} {
		id := "trace" + strings.ReplaceAll(path, "/", ".")
		got := s.get(path, "Authorization: Bearer owner", "X-Request-Id: "+id, "Accept-Language: it")
		r := got.refused(http.StatusInternalServerError)
		if r.RequestID != id || strings.Contains(got.Body, "secret") || !strings.HasPrefix(r.Message, "Si è verificato") {
			t.Errorf("%s: %s", path, got.Body)
		}
		if n := strings.Count(s.log.String(), `"msg":"`+message+`"`); n == 0 {
			t.Errorf("%s is not in the log as %q", path, message)
		}
	}
	if n := strings.Count(s.log.String(), `"level":"ERROR"`); n != 3 {
		t.Errorf("%d errors in the log, want each once:\n%s", n, s.log)
	}
	if !strings.Contains(s.log.String(), "secret: no such column") {
		t.Error("the log lacks the error")
	}
}

// Repeated panics at one place are logged with a stack trace once per minute. Every panic is
// counted and gets a response.
func TestPanicsDoNotFillTheLog(t *testing.T) {
	t.Parallel()
	began := clock.System().Now()
	now, counted := clock.NewFixed(began), 0
	s := start(t, routes(), func(cfg *rest.Config) { cfg.Clock, cfg.Panicked = now, func() { counted++ } })
	const logged = `"msg":"panic"`
	for i, minutes := range []int{0, 0, 0, 1, 1} {
		now.Set(began.Add(time.Duration(minutes) * time.Minute))
		s.get("/api/v1/panic", "Authorization: Bearer owner").refused(http.StatusInternalServerError)
		if got, want := strings.Count(s.log.String(), logged), 1+i/3; got != want {
			t.Errorf("after %d panics %d in the log, want %d", i+1, got, want)
		}
	}
	_, _ = http.Post(s.url+"/api/v1/half", "", nil)                            // the connection is closed
	if got := strings.Count(s.log.String(), logged); got != 3 || counted < 6 { // the client may retry
		t.Errorf("of two places: %d in the log, %d counted", got, counted)
	}
	if entry := s.logged(`"msg":"panic"`); !strings.Contains(fmt.Sprint(entry["stack"]), "rest_test.routes") {
		t.Errorf("%v", entry)
	}
}

// A partial response must not look like a complete one.
func TestPanicHalfWay(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/half", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		_, err = io.ReadAll(resp.Body)
	}
	if err == nil {
		t.Error("the answer looks complete")
	}
	s.logged("secret: boom")
}

func TestRefusalOfADomain(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	got := s.get("/api/v1/conflict", "Authorization: Bearer owner", "Accept-Language: fr")
	if got.Status != http.StatusConflict || strings.Contains(got.Body, "secret") || got.Body !=
		`{"code":"billing_not_ready","message":"Veuillez d’abord compléter vos coordonnées de facturation.","missing_fields":["city"]}` {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if strings.Contains(s.log.String(), "secret") {
		t.Error("rejected request was logged")
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, routes(), func(c *rest.Config) { c.Timeout = 20 * time.Millisecond })
	s.get("/api/v1/slow", "Authorization: Bearer owner").refused(http.StatusServiceUnavailable)
}

// A caller that disconnects is not an error of the service, and the request is not recorded.
func TestCallerGone(t *testing.T) {
	t.Parallel()
	recorded := make(chan int, 10)
	s := start(t, routes(), func(c *rest.Config) {
		c.Record = func(_ *http.Request, _ *authz.Caller, _ string, status int, _ string, _ time.Duration) {
			recorded <- status
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer owner")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Fatal("got a response, want a closed connection")
	}
	if entry := s.logged(`"msg":"request"`); entry["status"] != 499.0 {
		t.Errorf("%v", entry)
	}
	if strings.Contains(s.log.String(), `"level":"ERROR"`) {
		t.Error(s.log)
	}
	s.get("/api/v1/conflict", "Authorization: Bearer owner").refused(http.StatusConflict)
	if status := <-recorded; status != http.StatusConflict {
		t.Errorf("a request with status %d is recorded", status)
	}
}

// A truncated body is distinguished from an invalid one, and counts as a client error.
func TestBodyCutShort(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write([]byte("POST /api/v1/gadgets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer owner\r\nContent-Length: 100\r\n\r\n{"))
	_ = conn.Close()
	if entry := s.logged(`"msg":"request"`); entry["status"] != 400.0 && entry["status"] != 499.0 {
		t.Errorf("%v", entry)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for id, kept := range map[string]bool{
		"":                       false,
		"a-B_9.:x":               true,
		strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false,
		"a b":                    false,
		`a"b`:                    false,
		"a\u00e9":                false,
		"<script>":               false,
	} {
		got := s.get("/nowhere", "X-Request-Id: "+id).Header.Values("X-Request-Id")
		if len(got) != 1 || got[0] == "" || (got[0] == id) != kept {
			t.Errorf("%q became %q", id, got)
		}
	}
}

// The access log contains the route, but never its parameters.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	s.do("PATCH", "/api/v1/gadgets/77?token=sesame", `{"name":"sesame"}`, "Authorization: Bearer owner", "X-Request-Id: one", "Cookie: session=sesame")
	entry := s.logged(`"request_id":"one"`)
	delete(entry, "time")
	if took, ok := entry["took_ms"].(float64); !ok || took < 0 {
		t.Errorf("took %v", entry["took_ms"])
	}
	delete(entry, "took_ms")
	diff(t, map[string]any{
		"level": "INFO", "msg": "request", "method": "PATCH", "route": "/api/v1/gadgets/{id}", "status": 422.0, "bytes": entry["bytes"],
		"ip": "192.0.2.7", "request_id": "one", "user": 3.0, "tenant": ownTenant.String(),
	}, entry)

	s.get("/sesame/x?y=sesame", "X-Request-Id: two")
	if route := s.logged(`"request_id":"two"`)["route"]; route != "" {
		t.Errorf("route = %q for an unknown path, want none", route)
	}
	s.do("SESAME", "/nowhere", "", "X-Request-Id: three")
	s.logged(`"request_id":"three"`)
	s.do("OPEN"+strings.Repeat("X", 20), "/nowhere", "", "X-Request-Id: four")
	if method := s.logged(`"request_id":"four"`)["method"]; method != "OTHER" {
		t.Errorf("method %q", method)
	}
	s.get("/api/v1/panic", "Authorization: Bearer owner", "X-Request-Id: five")
	if entry := s.logged(`"msg":"request","method":"GET","route":"/api/v1/panic"`); entry["status"] != 500.0 || entry["route"] != "/api/v1/panic" {
		t.Errorf("%v", entry)
	}
	for _, secret := range []string{`"sesame`, "=sesame", "/sesame", "Bearer", "/77"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("%s is in the log:\n%s", secret, s.log)
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	plain, https := start(t, routes()), start(t, routes(), func(c *rest.Config) { c.HTTPS = true })
	for _, path := range []string{"/api/v1/me", "/api/v1/show", "/nowhere", "/api/v1/panic"} {
		for _, s := range []*server{plain, https} {
			h := s.get(path, "Authorization: Bearer owner").Header
			for name, want := range map[string]string{
				"X-Content-Type-Options":  "nosniff",
				"Referrer-Policy":         "no-referrer",
				"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
				"Cache-Control":           "no-store",
			} {
				if h.Get(name) != want {
					t.Errorf("%s: %s: %q", path, name, h.Get(name))
				}
			}
			if hsts := h.Get("Strict-Transport-Security"); (hsts != "") != (s == https) {
				t.Errorf("%s: HSTS %q", path, hsts)
			}
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	const first = "Origin: https://app.example.com"
	got := s.get("/api/v1/panic", first, "Authorization: Bearer owner")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "https://app.example.com", "Access-Control-Allow-Credentials": "true", "Vary": "Origin",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q", name, got.Header.Get(name))
		}
	}
	if exposed := got.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Retry-After") || !strings.Contains(exposed, "X-Request-Id") {
		t.Errorf("exposed: %q", exposed)
	}
	preflight := s.do("OPTIONS", "/api/v1/gadgets", "", first, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
	if preflight.Status != 204 || !strings.Contains(preflight.Header.Get("Access-Control-Allow-Methods"), "PATCH") ||
		!strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("%d %v", preflight.Status, preflight.Header)
	}
	for _, origin := range []string{"https://evil.example", "null", "https://app.example.com.evil.example", "http://app.example.com"} {
		for _, got := range []answer{
			s.get("/api/v1/show", "Origin: "+origin),
			s.do("OPTIONS", "/api/v1/gadgets", "", "Origin: "+origin, "Access-Control-Request-Method: POST"),
		} {
			for name := range got.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s returns %s", origin, name)
				}
			}
			if got.Header.Get("Vary") != "Origin" {
				t.Errorf("Vary %q", got.Header.Get("Vary"))
			}
		}
	}
}

func TestLocale(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	const en, fr, es, it = "Not found.", "Introuvable.", "No se ha encontrado.", "Non trovato."
	for accept, want := range map[string]string{
		"": en, "en": en, "fr": fr, "es": es, "it": it,
		"fr-CA": fr, "ES-419": es, "it_IT": it, "en-GB,en;q=0.9": en,
		"de, es;q=0.5":             es,
		"de":                       en,
		"*":                        en,
		"en;q=0.1, it;q=0.9":       it,
		"fr;q=0, it;q=0.1":         it,
		"fr;q=0.5,es;q=0.6,it;q=x": en,
		"zz-ZZ-zz, ,,":             en,
		strings.Repeat("x-", 2000): en,
	} {
		if got := s.get("/nowhere", "Accept-Language: "+accept).refused(404).Message; got != want {
			t.Errorf("%.40q: %q, want %q", accept, got, want)
		}
	}
	got := s.post("/api/v1/gadgets", `{}`, "Accept-Language: es")
	got.broken(map[string]string{"name": "Este campo es obligatorio."})
}

func TestMount(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	s.api.Mount("/sandbox/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) }))
	s.api.Mount("/healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for path, want := range map[string]string{"/sandbox/": "/sandbox/", "/sandbox/a/b": "/sandbox/a/b"} {
		if got := s.do("PUT", path, ""); got.Status != 200 || got.Body != want {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	if got := s.get("/healthz"); got.Status != http.StatusTeapot || got.Header.Get("X-Request-Id") == "" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	s.get("/healthz/x").refused(404)
}

// A leftover read deadline on the connection would cancel the context of a slow handler.
func TestReadDeadlineIsCleared(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/gadgets", strings.NewReader(`{"name":"bolt"}`))
	req.Header.Set("Authorization", "Bearer owner")
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	s.api.ServeHTTP(w, req)
	if w.Code != http.StatusCreated || w.set == 0 || !w.last.IsZero() {
		t.Errorf("%d, deadline set %d times, at last to %s", w.Code, w.set, w.last)
	}
}

type deadlines struct {
	*httptest.ResponseRecorder
	set  int
	last time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error { d.set++; d.last = at; return nil }
