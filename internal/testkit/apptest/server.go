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

// Server is the whole service with its sandbox, as `tenantry dev` runs it, on a
// database of its own.
type Server struct {
	T testing.TB
	// URL is where the service is reached, without a slash at its end.
	URL string
	// Database is the URL of the service's database.
	Database string

	log         *logBuffer
	stop        func() error
	db, sandbox func() *sqldb.DB
	secrets     secrets
	record      func(Exchange) // nil records nothing
	front       *balancer      // nil for a single instance
}

// Stop ends the service and returns what it ended with. Later calls return the
// same.
func (s *Server) Stop() error { return s.stop() }

// Log is all that the service has logged so far.
func (s *Server) Log() string { return s.log.String() }

// CLISettings are the settings with which the command line reaches the database of
// the service, and its provider.
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

// Call makes a request with a body that is encoded as JSON (nil for none, a string
// as it is) and a bearer token ("" for none). Redirects are not followed.
func (s *Server) Call(method, path, token string, body any) Reply {
	s.T.Helper()
	return s.Do(s.NewRequest(method, path, token, body))
}

// NewRequest is the request of [Server.Call], to be changed and then handed to
// [Server.Do].
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

// Do makes a request. Redirects are not followed.
func (s *Server) Do(r *http.Request) Reply {
	s.T.Helper()
	return s.DoWith(noRedirects, r)
}

// DoWith makes a request with a client of the test's own.
func (s *Server) DoWith(client *http.Client, r *http.Request) Reply {
	s.T.Helper()
	resp, err := client.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Read(r, resp)
}

// Read takes in the response to r, and closes its body.
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

// Submit sends the form of a page, such as those of the payment provider. page is a
// whole URL.
func (s *Server) Submit(page string, form url.Values) Reply {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.Do(r)
}

// Scrape reads the metrics or another page of text at a whole URL.
func (s *Server) Scrape(address string) string {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, address, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Do(r).Want(http.StatusOK).Text
}

// Routes reads the route table from the service's own reference, which lists every
// route with its scope, permission and group.
func (s *Server) Routes() []rest.Route {
	s.T.Helper()
	paths, _ := s.Call("GET", "/openapi.json", "", nil).Want(200).At("paths").(Object)
	var routes []rest.Route
	for path, methods := range paths {
		for method, op := range methods.(Object) {
			if op.(Object)["x-scope"] == nil {
				continue // what is answered outside of the table
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

// FillPath puts a tenant's id into the path of a route, and [NoSuchID] in place of
// every other parameter.
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
