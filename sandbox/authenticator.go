package sandbox

import (
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed authenticator.html
var authenticatorPage string

// TOTPCode is the current code of an account's authenticator app.
type TOTPCode struct {
	Email     string
	Code      string
	EndsAt    time.Time
	Used      bool // the service has accepted this code, so the next login needs the next code
	Confirmed bool // whether the app is confirmed, so that logins require its codes
}

// jsonCode is a TOTPCode as JSON.
type jsonCode struct {
	Email     string `json:"email"`
	Code      string `json:"code"`
	ExpiresAt string `json:"expires_at"`
	Used      bool   `json:"used"`
	Confirmed bool   `json:"confirmed"`
}

// showAuthenticator responds to GET /sandbox/authenticator with the page for browsers and JSON for
// other clients. The page reloads when the codes change.
func (w *World) showAuthenticator(rw http.ResponseWriter, r *http.Request, page *template.Template) {
	rw.Header().Set("Vary", "Accept")
	var codes []TOTPCode
	var err error
	if w.access.Codes != nil {
		codes, err = w.access.Codes(r.Context())
	}
	switch {
	case err != nil:
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		now := w.time.clock.Now()
		if len(codes) > 0 {
			rw.Header().Set("Refresh", strconv.Itoa(int(codes[0].EndsAt.Sub(now)/time.Second)+1))
		}
		err = theme.Write(rw, http.StatusOK, page, "'none'", struct {
			theme.Frame

			Codes []TOTPCode
		}{theme.Frame{Title: "Authenticator", Here: "Authenticator", Now: theme.DescribeTime(now, now)}, codes})
	default:
		list := make([]jsonCode, len(codes))
		for i, c := range codes {
			list[i] = jsonCode{c.Email, c.Code, c.EndsAt.UTC().Format(timeLayout), c.Used, c.Confirmed}
		}
		writeJSON(rw, http.StatusOK, map[string]any{"data": list})
	}
	if err != nil {
		writeJSON(rw, http.StatusInternalServerError, problem{Message: err.Error()})
	}
}
