package apptest

import "net/http"

// Frontend is a browser on a page of the first-party frontend. It stores cookies and sends its
// origin.
type Frontend struct {
	s       *Server
	Origin  string
	Cookies map[string]*http.Cookie
}

// Frontend returns a browser without cookies.
func (s *Server) Frontend() *Frontend {
	return &Frontend{s: s, Origin: s.URL, Cookies: map[string]*http.Cookie{}}
}

// Fetch makes a request like the frontend. csrf is the value of the CSRF header; "" omits the
// header.
func (f *Frontend) Fetch(method, path, csrf string, body any) Reply {
	f.s.T.Helper()
	r := f.s.NewRequest(method, path, "", body)
	r.Header.Set("Origin", f.Origin)
	if csrf != "" {
		r.Header.Set("X-XSRF-TOKEN", csrf)
	}
	for _, c := range f.Cookies {
		r.AddCookie(c)
	}
	a := f.s.Do(r)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		f.Cookies[c.Name] = c
	}
	return a
}

// Send is [Frontend.Fetch] with the value of the CSRF cookie in the header, which every frontend
// sends.
func (f *Frontend) Send(method, path string, body any) Reply {
	f.s.T.Helper()
	return f.Fetch(method, path, f.Cookie("XSRF-TOKEN"), body)
}

// Cookie returns the value of a cookie, or "" if there is none.
func (f *Frontend) Cookie(cookie string) string {
	if c := f.Cookies[cookie]; c != nil {
		return c.Value
	}
	return ""
}
