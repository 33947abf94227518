package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// FuzzCookies checks that reading cookies never panics, that a session has the right length or is
// empty, and that only the frontend's own origin is in cookie mode.
func FuzzCookies(f *testing.F) {
	session := "0123456789012345678901234567890123456789012"
	f.Add("tenantry_session="+session, "https://app.example", "")
	f.Add(`tenantry_session="`+session+`"; __Host-tenantry_session=`+session+"; =; ;", "", "https://app.example/x?y#z")
	f.Add("a=b; tenantry_session", "null", "//app.example")
	f.Add("\xff=\x00", "https://app.example.evil", "https://app.example@evil")
	a := &API{cfg: Config{FirstPartyOrigin: func(origin string) bool { return origin == "https://app.example" }}}
	f.Fuzz(func(t *testing.T, cookie, origin, referer string) {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/auth/login", http.NoBody)
		r.Header["Cookie"], r.Header["Origin"], r.Header["Referer"] = []string{cookie}, []string{origin}, []string{referer}
		b := a.browserOf(httptest.NewRecorder(), r)
		if b.session != "" && len(b.session) != sessionLength {
			t.Errorf("%q is a session", b.session)
		}
		if b.mode && origin != "" && origin != "https://app.example" {
			t.Errorf("%q is in cookie mode", origin)
		}
	})
}
