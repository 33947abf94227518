package apptest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Server is a service with its sandbox, as `tenantry dev` runs it, with its own database.
type Server struct {
	T testing.TB
	// URL is the URL of the service, without a trailing slash.
	URL string
	// Database is the URL of the service's database.
	Database string

	log         *logBuffer
	stop        func() error
	db, sandbox func() *sqldb.DB
	secrets     *secrets
	record      func(Exchange) // nil records nothing
	front       *balancer      // nil for a single instance
}

// Run runs f as a subtest on the same service, and reports whether it succeeded. In f, the methods of
// the server fail the subtest.
func (s *Server) Run(t *testing.T, name string, f func(t *testing.T, s *Server)) bool {
	t.Helper()
	return t.Run(name, func(t *testing.T) {
		sub := *s
		sub.T = t
		f(t, &sub)
	})
}

// Stop stops the service and returns its error. Later calls return the same error.
func (s *Server) Stop() error { return s.stop() }

// Log returns the log so far.
func (s *Server) Log() string { return s.log.String() }

// CLISettings returns the settings for commands on the service's database and provider.
func (s *Server) CLISettings() settings.Settings {
	s.T.Helper()
	provider, err := url.Parse(s.URL + "/sandbox/stripe")
	if err != nil {
		s.T.Fatal(err)
	}
	return settings.Settings{
		DatabaseURL: settings.Secret(s.Database), DatabasePatience: dbtest.ConnTimeout, StripeSecretKey: providerKey, InvoiceMode: settings.InvoicesByPSP,
		StripeURL: provider,
	}
}

// Call makes a request. It encodes body as JSON (nil sends no body, a string is sent unchanged) and
// sends token as a bearer token ("" sends none). It does not follow redirects.
func (s *Server) Call(method, path, token string, body any) Reply {
	s.T.Helper()
	return s.Do(s.NewRequest(method, path, token, body))
}

// NewRequest returns the request of [Server.Call], to change it before [Server.Do].
func (s *Server) NewRequest(method, path, token string, body any) *http.Request {
	s.T.Helper()
	var reader io.Reader
	if body != nil {
		s.secrets.noteJSON(body)
		text, ok := body.(string)
		if !ok {
			encoded, err := json.Marshal(body)
			if err != nil {
				s.T.Fatal(err)
			}
			text = string(encoded)
		}
		reader = strings.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, reader)
	if err != nil {
		s.T.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// noRedirects is the client of [Server.Do].
var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Do makes a request. It does not follow redirects.
func (s *Server) Do(r *http.Request) Reply {
	s.T.Helper()
	return s.DoWith(noRedirects, r)
}

// DoWith makes a request with a client.
func (s *Server) DoWith(client *http.Client, r *http.Request) Reply {
	s.T.Helper()
	resp, err := client.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Read(r, resp)
}

// Read reads the response to r and closes its body.
func (s *Server) Read(r *http.Request, resp *http.Response) Reply {
	s.T.Helper()
	defer resp.Body.Close()
	s.secrets.noteLocation(resp.Header.Get("Location"))
	for _, c := range resp.Cookies() {
		s.secrets.note(c.Value)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	s.holdToContract(r, resp, text)
	a := Reply{T: s.T, Status: resp.StatusCode, Header: resp.Header, Text: string(text), what: r.Method + " " + r.URL.Path}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &a.Body); err != nil {
			s.T.Fatalf("%s: %v in %s", a.what, err, text)
		}
		s.secrets.noteJSON(a.Body)
	}
	return a
}

// Submit submits the form of a page, such as a page of the payment provider. page is an absolute
// URL.
func (s *Server) Submit(page string, form url.Values) Reply {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.Do(r)
}

// Scrape returns the metrics or another text at an absolute URL.
func (s *Server) Scrape(address string) string {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, address, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Do(r).Want(http.StatusOK).Text
}

// Routes reads the route table from the service's reference, with the scope, permission and
// rate-limit group of each route.
func (s *Server) Routes() []rest.Route {
	s.T.Helper()
	paths, _ := s.Call("GET", "/openapi.json", "", nil).Want(200).At("paths").(Object)
	var routes []rest.Route
	for path, methods := range paths {
		for method, op := range methods.(Object) {
			if op.(Object)["x-scope"] == nil {
				continue // not in the route table
			}
			text := func(key string) string { v, _ := op.(Object)[key].(string); return v }
			routes = append(routes, rest.Route{
				Method: strings.ToUpper(method), Path: path, Scope: rest.Scope(text("x-scope")),
				Permission: text("x-permission"), Rate: text("x-rate-limit"), Summary: text("summary"), KeyScope: text("x-api-key-scope"),
			})
		}
	}
	if len(routes) < 20 {
		s.T.Fatalf("the reference has only %d routes", len(routes))
	}
	return routes
}

// FillPath replaces the tenant id in the path of a route, and all other parameters with [NoSuchID].
func FillPath(path, tenant string) string {
	path = strings.ReplaceAll(path, "{tenantId}", tenant)
	for {
		from := strings.IndexByte(path, '{')
		if from < 0 {
			return path
		}
		path = path[:from] + NoSuchID + path[from+strings.IndexByte(path[from:], '}')+1:]
	}
}
