package sandbox

import (
	_ "embed"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed index.html
var indexPage string

//go:embed clock.html
var clockPage string

// Handler serves all paths below /sandbox. provider serves the payment provider's paths:
// /sandbox/stripe/, /sandbox/checkout/, /sandbox/portal/, /sandbox/invoices/, /sandbox/dashboard
// and /sandbox/chaos. identities serves /sandbox/idp.
//
// The sandbox has no login, so it protects itself from other web pages. Cross-origin browser
// requests cannot change anything. The request's host must be an IP address, a local name or one of
// hosts (host or host:port). For other hosts it responds with 421, because a web page could point
// its own name to this machine to read the mailbox (DNS rebinding).
func (w *World) Handler(provider, identities http.Handler, hosts ...string) http.Handler {
	mux := http.NewServeMux()
	theme.Register(mux)
	theme.RegisterBrand(mux, w.access.Brand)
	index := theme.Shell(indexPage, nil)
	mux.HandleFunc("GET /sandbox", func(rw http.ResponseWriter, r *http.Request) { w.showIndex(rw, r, index) })
	mux.Handle("GET /sandbox/{$}", http.RedirectHandler("/sandbox", http.StatusFound))
	clocks := clockHandler{World: w, page: theme.Shell(clockPage, nil)}
	mux.HandleFunc("GET /sandbox/clock", clocks.show)
	mux.HandleFunc("POST /sandbox/clock", clocks.move)
	mux.HandleFunc("GET /sandbox/bar", w.showBar)
	authenticator := theme.Shell(authenticatorPage, nil)
	mux.HandleFunc("GET /sandbox/authenticator", func(rw http.ResponseWriter, r *http.Request) { w.showAuthenticator(rw, r, authenticator) })
	if w.access.Elements {
		w.registerElements(mux)
	}
	mux.HandleFunc("GET /sandbox/dns", w.DNS().show)
	mux.HandleFunc("PUT /sandbox/dns", w.DNS().replace)
	mails := w.mailbox.Handler()
	mux.Handle("/sandbox/mail", mails)
	mux.Handle("/sandbox/mail/", mails)
	if g := w.access.Mails; len(g.Kinds) > 0 {
		g.Clock = w.time.clock
		g.Register(mux)
	}
	for _, own := range []string{"/sandbox/stripe/", "/sandbox/checkout/", "/sandbox/portal/", "/sandbox/invoices/", "/sandbox/chaos", "/sandbox/dashboard", "/sandbox/dashboard/"} {
		mux.Handle(own, provider)
	}
	mux.Handle("/sandbox/idp", identities)
	mux.Handle("/sandbox/idp/", identities)
	missing := theme.Shell(`<div class="head"><div><h1>Page not found</h1><p>The sandbox has no page at this address.</p></div></div>`, nil)
	mux.HandleFunc("/sandbox/", func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
			now := w.time.clock.Now()
			if theme.Write(rw, http.StatusNotFound, missing, "'self'", theme.Frame{Title: "Page not found", Now: theme.DescribeTime(now, now)}) == nil {
				return
			}
		}
		writeJSON(rw, http.StatusNotFound, problem{Message: "The sandbox does not have this page."})
	})
	return guard(mux, hosts)
}

// ProviderHandler serves the payment provider without the service: its API, which requires the
// secret key, its pages and the clock. The pages and the clock are protected from other web pages
// as in Handler.
func (w *World) ProviderHandler(provider http.Handler, hosts ...string) http.Handler {
	mux := http.NewServeMux()
	theme.Register(mux)
	clocks := clockHandler{World: w, page: theme.Shell(clockPage, nil), alone: true}
	mux.HandleFunc("GET /sandbox/clock", clocks.show)
	mux.HandleFunc("POST /sandbox/clock", clocks.move)
	mux.Handle("/sandbox/", provider)
	mux.Handle("/sandbox/{$}", http.RedirectHandler("/sandbox/dashboard", http.StatusFound))
	mux.Handle("/sandbox", http.RedirectHandler("/sandbox/dashboard", http.StatusFound))
	mux.Handle("/{$}", http.RedirectHandler("/sandbox/dashboard", http.StatusFound))
	whole := http.NewServeMux()
	whole.Handle("/", guard(mux, hosts))
	whole.Handle("/v1/", provider)
	whole.Handle("/v2/", provider)
	return whole
}

// Guard protects additional pages of the sandbox from other web pages as in Handler.
func (w *World) Guard(pages http.Handler, hosts ...string) http.Handler {
	return guard(pages, hosts)
}

// guard protects next from other web pages.
func guard(next http.Handler, hosts []string) http.Handler {
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		writeJSON(rw, http.StatusForbidden, problem{Message: "Another site's page cannot change the sandbox."})
	}))
	return requireLocalHost(hosts, sameOrigin.Handler(next))
}

// login is an account of the demo data.
type login struct{ Who, Email, Password string }

// testCard is a test card or account, with a description of its behavior.
type testCard struct{ Number, Does string }

var testCards = []testCard{
	{"4242 4242 4242 4242", "succeeds"},
	{"4000 0000 0000 0002", "is declined"},
	{"4000 0000 0000 0341", "succeeds now, fails at renewal"},
	{"4000 0027 6000 3184", "requires confirmation of each payment (3-D Secure)"},
	{"4000 0000 0000 5126", "succeeds; refunds succeed, then fail"},
	{"4000 0000 0000 7726", "succeeds; refunds are pending, then succeed"},
	{"DE89 3704 0044 0532 0130 00", "SEPA Direct Debit: succeeds after five days"},
	{"DE62 3704 0044 0532 0130 01", "SEPA Direct Debit: fails after five days"},
}

func (w *World) showIndex(rw http.ResponseWriter, r *http.Request, index *template.Template) {
	mails, err := w.mailbox.Count(r.Context())
	if err == nil {
		now, site := w.time.clock.Now(), strings.TrimSuffix(w.access.API, "/sandbox/stripe")
		err = theme.Write(rw, http.StatusOK, index, "'self'", struct {
			theme.Frame

			Logins          []login
			Login, Me, Curl string
			Key, Record     string
			Mails           int
			Access          Access
			Cards           []testCard
		}{
			theme.Frame{Title: "Start", Here: "Start", Now: theme.DescribeTime(now, now)},
			[]login{{"Owner of the tenant Acme", OwnerEmail, OwnerPassword}, {"Platform admin", AdminEmail, AdminPassword}},
			"curl " + site + "/api/v1/auth/login -H 'Content-Type: application/json' \\\n  -d '{\"email\": \"" + OwnerEmail + "\", \"password\": \"" + OwnerPassword + "\"}'",
			"curl " + site + "/api/v1/auth/me -H \"Authorization: Bearer $TOKEN\"",
			"curl " + w.access.API + "/v1/customers -u " + w.access.Key + ":",
			"KEY=$(tenantry api-key create --name demo --scope usage.write | tail -1)",
			"curl " + site + "/api/v1/tenant/$TENANT/usage \\\n  -H \"Authorization: Bearer $KEY\" \\\n  -H 'Content-Type: application/json' -d '{\"meter_code\": \"api-calls\", \"quantity\": 1}'",
			mails, w.access, testCards,
		})
	}
	if err != nil {
		writeJSON(rw, http.StatusInternalServerError, problem{Message: err.Error()})
	}
}

// requireLocalHost accepts only requests whose host is an IP address, a name without a dot
// (localhost, or a service in a container network), a name below .localhost, or one of hosts. Other
// sites cannot be reached under such names.
func requireLocalHost(hosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		name = strings.ToLower(strings.Trim(name, "[]"))
		_, err := netip.ParseAddr(name)
		local := err == nil || !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost")
		if !local && !slices.Contains(hosts, name) && !slices.Contains(hosts, strings.ToLower(r.Host)) {
			writeJSON(rw, http.StatusMisdirectedRequest, problem{Message: "The sandbox is not reached under this name."})
			return
		}
		// With a stricter policy, browsers without Sec-Fetch-Site would send the sandbox's own
		// forms with the origin "null".
		rw.Header().Set("Referrer-Policy", "same-origin")
		next.ServeHTTP(rw, r)
	})
}
