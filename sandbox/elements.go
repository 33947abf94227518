package sandbox

import (
	_ "embed"
	"net/http"
	"slices"

	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed elements.html
var elementsPage string

//go:embed elements.js
var elementsJS string

// shownElement is a web component of the service on the sandbox's page.
type shownElement struct{ Name, Title string }

var shownElements = []shownElement{
	{"pricing", "Pricing"},
	{"team", "Team"},
	{"billing", "Billing"},
	{"usage", "Usage"},
	{"account", "Account"},
}

// registerElements serves a page that embeds the web components as a customer's page does. It loads
// their scripts, calls the API and logs in with an account of the demo data.
func (w *World) registerElements(mux *http.ServeMux) {
	page := theme.Shell(elementsPage, nil)
	theme.RegisterScript(mux, "/sandbox/elements.js", elementsJS)
	mux.HandleFunc("GET /sandbox/elements", func(rw http.ResponseWriter, r *http.Request) {
		i := max(0, slices.IndexFunc(shownElements, func(e shownElement) bool { return e.Name == r.URL.Query().Get("show") }))
		now := w.time.clock.Now()
		err := theme.WriteWithAPI(rw, page, struct {
			theme.Frame

			Elements []shownElement
			Shown    shownElement
			Login    login
		}{
			theme.Frame{Title: "Elements", Here: "Start", Up: &theme.Link{Text: "Start", Href: "/sandbox"}, Now: theme.DescribeTime(now, now)},
			shownElements, shownElements[i],
			login{"the owner of Acme", OwnerEmail, OwnerPassword},
		})
		if err != nil {
			writeJSON(rw, http.StatusInternalServerError, problem{Message: err.Error()})
		}
	})
}
