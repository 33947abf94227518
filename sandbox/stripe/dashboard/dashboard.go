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

// Path is the path of the dashboard; everything of it is below.
const Path = "/sandbox/dashboard"

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
}

// New returns the dashboard of what e keeps.
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

// frame is a page. Exactly one of the parts below is set.
type frame struct {
	theme.Frame

	Overview *overviewPart
	List     *listPart
	Detail   *detailPart
	Coverage *coveragePart
}

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
		f := frame{Frame: theme.Frame{Now: momentAt(st.Now, st.Now), Alone: d.cfg.AtRoot}}
		status := http.StatusOK
		err := show(r.Context(), st, r, &f)
		if errors.Is(err, kernel.ErrNotFound) {
			status, err = http.StatusNotFound, nil
			f.Title, f.Detail = "There is nothing here", &detailPart{Note: "It does not exist, or it was deleted."}
		}
		if err != nil {
			pages.Fail(w, r, d.engine.Log(), err)
			return
		}
		w.Header().Set("Referrer-Policy", "same-origin")
		pages.Write(w, r, d.engine.Log(), status, d.page, "'self'", f)
	}
}

// resend answers POST …/events/{id}/resend: an event is sent once more.
func (d *Dashboard) resend(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	err := d.engine.Write(r.Context(), func(ctx context.Context, st *kernel.Step) error {
		e, err := kernel.Events.Find(ctx, st.Q, id)
		if errors.Is(err, kernel.ErrNotFound) {
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

// momentAt describes a time in seconds, seen from now.
func momentAt(when, now int64) theme.Moment { return theme.At(time.Unix(when, 0), time.Unix(now, 0)) }
