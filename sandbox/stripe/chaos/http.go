package chaos

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// The paths of the settings and of their page.
const (
	Path     = kernel.OwnRoot + "/chaos"
	PagePath = "/sandbox/chaos"
)

//go:embed chaos.html
var pageHTML string

// Control serves the endpoints and the page that control the fault injection.
type Control struct {
	engine   *kernel.Engine
	dice     *Dice
	page     *template.Template
	changing sync.Mutex // held while settings are stored and applied
}

// New returns the control of d and applies the last stored settings to d.
func New(ctx context.Context, e *kernel.Engine, d *Dice) (*Control, error) {
	kept, err := records.Find(ctx, e.Read().Q, records.Name)
	switch {
	case err == nil:
		d.use(kept.Settings)
	case !errors.Is(err, kernel.ErrNotFound):
		return nil, err
	}
	return &Control{engine: e, dice: d, page: theme.Shell(pageHTML, nil)}, nil
}

// set stores the settings and resets the counters of events and calls.
func (c *Control) set(ctx context.Context, settings settings) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	err := c.engine.Write(ctx, func(ctx context.Context, st *kernel.Step) error {
		id := kernel.Header{ID: records.Name, Object: records.Name, Created: st.Now}
		return kernel.Put(ctx, st.Q, record{Header: id, Settings: settings})
	})
	if err == nil {
		c.dice.use(settings)
	}
	return err
}

// Show handles GET /sandbox/stripe/chaos.
func (c *Control) Show(w http.ResponseWriter, _ *http.Request) {
	kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: c.dice.currentSettings()})
}

// Change handles PUT /sandbox/stripe/chaos. Omitted values get their defaults, so {} ends the fault
// injection.
func (c *Control) Change(w http.ResponseWriter, r *http.Request) {
	settings := defaultSettings()
	if !kernel.ReadControl(w, r, &settings) {
		return
	}
	if wrong := settings.check(); len(wrong) > 0 {
		kernel.RefuseControl(w, wrong)
		return
	}
	if err := c.set(r.Context(), settings); err != nil {
		kernel.FailControl(w, r, c.engine.Log(), err)
		return
	}
	kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: settings})
}

// pageView is the data of the page's template.
type pageView struct {
	theme.Frame

	Quiet  bool // whether no faults are injected
	Fields []input
}

// input is a setting on the page. Invalid values are shown as they were typed.
type input struct {
	field
	Value, Error string
}

// ShowPage responds to GET /sandbox/chaos with a form that explains the settings.
func (c *Control) ShowPage(w http.ResponseWriter, r *http.Request) {
	settings := c.dice.currentSettings()
	view := pageView{Quiet: true}
	for _, f := range settings.fields() {
		input := input{field: f}
		if f.Share != nil {
			input.Value = strconv.FormatFloat(*f.Share, 'f', -1, 64)
			view.Quiet = view.Quiet && *f.Share == 0
		} else {
			input.Value = strconv.FormatInt(*f.Whole, 10)
		}
		view.Fields = append(view.Fields, input)
	}
	c.writePage(w, r, http.StatusOK, view)
}

// Submit handles POST /sandbox/chaos, the page's form. An empty form ends the fault injection.
func (c *Control) Submit(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, form.MaxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form is invalid.", http.StatusBadRequest)
		return
	}
	settings := defaultSettings()
	wrong := settings.fill(r.PostForm)
	for field, reason := range settings.check() {
		wrong[field] = reason
	}
	if len(wrong) > 0 {
		view := pageView{}
		for _, f := range settings.fields() {
			view.Fields = append(view.Fields, input{f, r.PostForm.Get(f.Name), wrong[f.Name]})
		}
		if sum, ok := wrong["api"]; ok {
			for i := range view.Fields {
				if view.Fields[i].Name == "api.fail_before" {
					view.Fields[i].Error = sum
				}
			}
		}
		c.writePage(w, r, http.StatusUnprocessableEntity, view)
		return
	}
	if err := c.set(r.Context(), settings); err != nil {
		pages.Fail(w, r, c.engine.Log(), err)
		return
	}
	http.Redirect(w, r, PagePath, http.StatusSeeOther)
}

// fill sets the values from a form. Empty values are ignored.
func (c *settings) fill(form url.Values) (wrong map[string]string) {
	wrong = map[string]string{}
	for _, f := range c.fields() {
		value := form.Get(f.Name)
		if value == "" {
			continue
		}
		var err error
		if f.Share != nil {
			*f.Share, err = strconv.ParseFloat(value, 64)
			if err == nil && !(*f.Share >= 0) { // also for NaN
				*f.Share = -1
			}
		} else {
			*f.Whole, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			wrong[f.Name] = "The " + f.Name + " must be a number."
		}
	}
	return wrong
}

// writePage renders a view.
func (c *Control) writePage(w http.ResponseWriter, r *http.Request, status int, view pageView) {
	now := c.engine.Now()
	view.Frame = theme.Frame{Title: "Chaos", Here: "Chaos", Now: theme.DescribeTime(now, now), Alone: c.engine.IsStandalone()}
	pages.Write(w, r, c.engine.Log(), status, c.page, "'self'", view)
}
