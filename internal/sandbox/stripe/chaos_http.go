package stripe

import (
	"net/http"
	"net/url"
	"strconv"
)

const (
	chaosPath     = apiRoot + "/chaos"
	chaosPagePath = "/sandbox/chaos"
)

// showChaos answers GET /sandbox/stripe/chaos.
func (s *Server) showChaos(w http.ResponseWriter, _ *http.Request) {
	writeControl(w, http.StatusOK, data{s.chaos.current()})
}

// changeChaos answers PUT /sandbox/stripe/chaos. What is not given is as it was
// at first, so that {} ends the chaos.
func (s *Server) changeChaos(w http.ResponseWriter, r *http.Request) {
	settings := quiet()
	if !readControl(w, r, &settings) {
		return
	}
	if wrong := settings.check(); len(wrong) > 0 {
		refuseControl(w, wrong)
		return
	}
	if err := s.setChaos(r.Context(), settings); err != nil {
		s.failControl(w, r, err)
		return
	}
	writeControl(w, http.StatusOK, data{settings})
}

// chaosView is the page's data.
type chaosView struct {
	Nonce  string
	Quiet  bool // nothing is set
	Fields []chaosInput
}

// chaosInput is a setting on the page, as it was typed when it is wrong.
type chaosInput struct {
	chaosField
	Value, Error string
}

// chaosForm answers GET /sandbox/chaos: the settings as a form, and what they
// mean.
func (s *Server) chaosForm(w http.ResponseWriter, r *http.Request) {
	settings := s.chaos.current()
	view := chaosView{Quiet: true}
	for _, f := range settings.fields() {
		input := chaosInput{chaosField: f}
		if f.Share != nil {
			input.Value = strconv.FormatFloat(*f.Share, 'f', -1, 64)
			view.Quiet = view.Quiet && *f.Share == 0
		} else {
			input.Value = strconv.FormatInt(*f.Whole, 10)
		}
		view.Fields = append(view.Fields, input)
	}
	s.writeChaosPage(w, r, http.StatusOK, view)
}

// submitChaos answers POST /sandbox/chaos, the page's form. An empty form ends
// the chaos.
func (s *Server) submitChaos(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	settings := quiet()
	wrong := settings.fill(r.PostForm)
	for field, reason := range settings.check() {
		wrong[field] = reason
	}
	if len(wrong) > 0 {
		view := chaosView{}
		for _, f := range settings.fields() {
			view.Fields = append(view.Fields, chaosInput{f, r.PostForm.Get(f.Name), wrong[f.Name]})
		}
		if sum, ok := wrong["api"]; ok {
			for i := range view.Fields {
				if view.Fields[i].Name == "api.fail_before" {
					view.Fields[i].Error = sum
				}
			}
		}
		s.writeChaosPage(w, r, http.StatusUnprocessableEntity, view)
		return
	}
	if err := s.setChaos(r.Context(), settings); err != nil {
		s.failPage(w, r, err)
		return
	}
	http.Redirect(w, r, chaosPagePath, http.StatusSeeOther)
}

// fill takes over the values of a form; empty ones stay as they are.
func (c *chaosSettings) fill(form url.Values) (wrong map[string]string) {
	wrong = map[string]string{}
	for _, f := range c.fields() {
		value := form.Get(f.Name)
		if value == "" {
			continue
		}
		var err error
		if f.Share != nil {
			*f.Share, err = strconv.ParseFloat(value, 64)
			if err == nil && !(*f.Share >= 0) { // NaN, too
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

func (s *Server) writeChaosPage(w http.ResponseWriter, r *http.Request, status int, view chaosView) {
	view.Nonce = newNonce()
	s.writeHTML(w, r, status, s.pages.chaos, view.Nonce, "'self'", view)
}
