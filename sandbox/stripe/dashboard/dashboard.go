package dashboard

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// Path is the path prefix of the dashboard.
const Path = "/sandbox/dashboard"

//go:embed dashboard.html
var pagesHTML string

// Config configures the dashboard.
type Config struct {
	API    string // the URL of the API, without /v1
	AtRoot bool   // whether API lacks a path, which Stripe's clients require
	Key    string // the secret key
	Secret string // the signing secret of the configured endpoint, or ""
	Hook   string // the URL of the configured endpoint, or ""
	Routes []Route
}

// Route is an API endpoint.
type Route struct{ Method, Path string }

// Dashboard serves the dashboard's pages.
type Dashboard struct {
	engine *kernel.Engine
	cfg    Config
	page   *template.Template
}

// New returns a dashboard for the state of e.
func New(e *kernel.Engine, cfg Config) *Dashboard {
	return &Dashboard{engine: e, cfg: cfg, page: theme.Shell(pagesHTML, nil)}
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

// frame is the data of a page. Exactly one of the pointers is set.
type frame struct {
	theme.Frame

	Overview *overviewPart
	List     *listPart
	Detail   *detailPart
	Coverage *coveragePart
}

// view fills a page. It returns kernel.ErrNotFound if the object does not exist.
type view func(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error

// serve returns the handler of a page.
func (d *Dashboard) serve(show view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := d.engine.Settle(r.Context()); err != nil {
			pages.Fail(w, r, d.engine.Log(), err)
			return
		}
		st := d.engine.Read()
		f := frame{Frame: theme.Frame{Now: momentAt(st.Now, st.Now), Alone: d.cfg.AtRoot}}
		status := http.StatusOK
		err := show(r.Context(), st, r, &f)
		if errors.Is(err, kernel.ErrNotFound) {
			status, err = http.StatusNotFound, nil
			f.Title, f.Detail = "Not found", &detailPart{Note: "This object does not exist or was deleted."}
		}
		if err != nil {
			pages.Fail(w, r, d.engine.Log(), err)
			return
		}
		w.Header().Set("Referrer-Policy", "same-origin")
		pages.Write(w, r, d.engine.Log(), status, d.page, "'self'", f)
	}
}

// resend handles POST …/events/{id}/resend. It sends an event again.
func (d *Dashboard) resend(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	err := d.engine.Write(r.Context(), func(ctx context.Context, st *kernel.Step) error {
		e, err := kernel.Events.Find(ctx, st.Q, id)
		if errors.Is(err, kernel.ErrNotFound) {
			return nil // the event's page renders the error
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

// momentAt describes a time relative to now. Both are in seconds since the epoch.
func momentAt(when, now int64) theme.Moment {
	return theme.DescribeTime(time.Unix(when, 0), time.Unix(now, 0))
}
