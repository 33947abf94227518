package dashboard

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/pages"
)

// Path is the path of the dashboard; everything of it is below.
const Path = "/sandbox/dashboard"

//go:embed style.css
var styleCSS string

//go:embed dashboard.html
var pagesHTML string

// Config is what the dashboard shows besides the state.
type Config struct {
	API    string // the URL of the API, without /v1
	AtRoot bool   // whether that has no path, which Stripe's clients require
	Key    string // the secret key
	Secret string // what signs the events of the configured endpoint; empty if there is none
	Hook   string // the URL of the configured endpoint; empty if there is none
	Routes []Route
}

// Route is an endpoint of the API.
type Route struct{ Method, Path string }

// Dashboard serves the pages.
type Dashboard struct {
	engine *kernel.Engine
	cfg    Config
	page   *template.Template
	style  template.CSS
}

// New returns the dashboard of what e keeps.
func New(e *kernel.Engine, cfg Config) (*Dashboard, error) {
	page, err := template.New("dashboard").Parse(pagesHTML)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	return &Dashboard{engine: e, cfg: cfg, page: page, style: template.CSS(styleCSS)}, nil //nolint:gosec // the style is a file of this package
}

// Register adds the pages to a mux.
func (d *Dashboard) Register(mux *http.ServeMux) {
	for path, show := range map[string]view{
		"":                    d.overview,
		"/customers":          d.customers,
		"/customers/{id}":     d.customer,
		"/subscriptions":      d.subscriptions,
		"/subscriptions/{id}": d.subscription,
		"/invoices":           d.invoices,
		"/invoices/{id}":      d.invoice,
		"/events":             d.events,
		"/events/{id}":        d.event,
		"/coverage":           d.coverage,
	} {
		mux.HandleFunc("GET "+Path+path, d.serve(show))
	}
	mux.HandleFunc("POST "+Path+"/events/{id}/resend", d.resend)
}

// frame is what all pages have in common. Exactly one of the parts below is set.
type frame struct {
	Title, Here string // Here is the entry of the navigation
	Up          *link  // the list that the page belongs to
	Now         moment
	Nonce       string
	Style       template.CSS
	Nav         []entry

	Overview *overviewPart
	List     *listPart
	Detail   *detailPart
	Coverage *coveragePart
}

type link struct{ Text, Href string }

type entry struct{ Name, Href, Icon string }

// view fills a page. Errors: kernel.ErrAbsent for what does not exist.
type view func(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error

// serve returns the handler of a page.
func (d *Dashboard) serve(show view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := d.engine.Settle(r.Context()); err != nil {
			pages.Fail(w, r, d.engine.Log(), err)
			return
		}
		st := d.engine.Read()
		f := frame{Nonce: pages.NewNonce(), Style: d.style, Now: at(st.Now, st.Now), Nav: navigation()}
		status := http.StatusOK
		err := show(r.Context(), st, r, &f)
		if errors.Is(err, kernel.ErrAbsent) {
			status, err = http.StatusNotFound, nil
			f.Title, f.Detail = "There is nothing here", &detailPart{Note: "It does not exist, or it was deleted."}
		}
		if err != nil {
			pages.Fail(w, r, d.engine.Log(), err)
			return
		}
		w.Header().Set("Referrer-Policy", "same-origin")
		pages.Write(w, r, d.engine.Log(), status, d.page, f.Nonce, "'self'", f)
	}
}

func navigation() []entry {
	return []entry{
		{"Overview", Path, "home"},
		{"Customers", Path + "/customers", "people"},
		{"Subscriptions", Path + "/subscriptions", "cycle"},
		{"Invoices", Path + "/invoices", "bill"},
		{"Events", Path + "/events", "pulse"},
		{"Coverage", Path + "/coverage", "list"},
	}
}

// resend answers POST …/events/{id}/resend: an event is sent once more.
func (d *Dashboard) resend(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	err := d.engine.Write(r.Context(), func(ctx context.Context, st *kernel.Step) error {
		e, err := kernel.Events.Find(ctx, st.Q, id)
		if errors.Is(err, kernel.ErrAbsent) {
			return nil // the page says so
		}
		if err != nil {
			return err
		}
		_, err = st.Resend(ctx, e.ID, e.Type, e.ObjectID())
		return err
	})
	if err != nil {
		pages.Fail(w, r, d.engine.Log(), err)
		return
	}
	d.engine.Wake()
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, Path+"/events/"+id, http.StatusSeeOther) //nolint:gosec // the path stays on this site
}

// moment is a time for people: how long ago or ahead it is within a week, else
// its date.
type moment struct{ Text, Exact, ISO string }

func at(when, now int64) moment {
	t := time.Unix(when, 0).UTC()
	m := moment{Exact: t.Format("2 January 2006, 15:04:05") + " UTC", ISO: t.Format(time.RFC3339)}
	distance, suffix, prefix := now-when, " ago", ""
	if distance < 0 {
		distance, suffix, prefix = -distance, "", "in "
	}
	switch {
	case distance < 5:
		m.Text = "now"
	case distance < 60:
		m.Text = fmt.Sprintf("%s%d s%s", prefix, distance, suffix)
	case distance < 60*60:
		m.Text = fmt.Sprintf("%s%d min%s", prefix, distance/60, suffix)
	case distance < 24*60*60:
		m.Text = fmt.Sprintf("%s%d h%s", prefix, distance/60/60, suffix)
	case distance < 2*24*60*60:
		m.Text = prefix + "1 day" + suffix
	case distance < 7*24*60*60:
		m.Text = fmt.Sprintf("%s%d days%s", prefix, distance/24/60/60, suffix)
	default:
		m.Text = t.Format("2 Jan 2006")
	}
	return m
}
