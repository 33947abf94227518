package app_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// talk sends bytes over a new connection. It returns the statuses of the responses until the server
// closes the connection or a timeout passes.
func talk(t *testing.T, address string, pieces ...string) (statuses []string, closed bool) {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for _, piece := range pieces {
		if _, err := io.WriteString(c, piece); err != nil {
			break
		}
	}
	_ = c.SetReadDeadline(clock.System().Now().Add(time.Second))
	for r := bufio.NewReader(c); ; {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			netErr, ok := err.(net.Error) //nolint:errorlint // ReadResponse does not wrap the error
			return statuses, !ok || !netErr.Timeout()
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		statuses = append(statuses, resp.Status[:3])
	}
}

const (
	get     = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	post    = "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	chunks  = "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	smuggle = "GET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n"
)

// The service refuses a request with both Content-Length and Transfer-Encoding, in any spelling and
// at any position on a connection, and does not answer the requests after it.
func TestRequestsWithTwoLengthsAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		address := strings.TrimPrefix(s.URL, "http://")
		for name, tt := range map[string]struct {
			sent   []string
			want   []string
			closed bool
		}{
			"both":                     {[]string{post + "Content-Length: 4\r\n" + chunks}, []string{"400"}, true},
			"the other way round":      {[]string{post + "Transfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n2\r\n{}\r\n0\r\n\r\n"}, []string{"400"}, true},
			"in other letters":         {[]string{post + "content-LENGTH: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"}, []string{"400"}, true},
			"without CR":               {[]string{strings.ReplaceAll(post+"Content-Length: 4\r\n"+chunks, "\r\n", "\n")}, []string{"400"}, true},
			"a length of nothing":      {[]string{post + "Content-Length: 0\r\n" + chunks}, []string{"400"}, true},
			"smuggled":                 {[]string{post + "Content-Length: 4\r\n" + chunks + smuggle}, []string{"400"}, true},
			"after another request":    {[]string{get + post + "Content-Length: 4\r\n" + chunks}, []string{"200", "400"}, true},
			"after a body":             {[]string{post + "Content-Length: 2\r\n\r\n{}" + post + "Content-Length: 4\r\n" + chunks}, []string{"422", "400"}, true},
			"byte by byte":             {strings.Split(get+post+"Content-Length: 4\r\n"+chunks, ""), []string{"200", "400"}, true},
			"after OPTIONS *":          {[]string{"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" + post + "Content-Length: 4\r\n" + chunks}, []string{"404", "400"}, true},
			"after HTTP/1.0":           {[]string{"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + post + "Content-Length: 4\r\n" + chunks}, []string{"200"}, true},
			"in a body, which is fine": {[]string{post + "Content-Length: 70\r\n\r\n" + strings.Repeat("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 2)[:70] + get}, []string{"400", "200"}, false},
			"only chunks":              {[]string{post + chunks + get}, []string{"422"}, true},
			"only lengths":             {[]string{post + "Content-Length: 2\r\n\r\n{}" + get + get}, []string{"422", "200", "200"}, false},
			"an invalid length":        {[]string{post + "Content-Length: x\r\n\r\n{}" + get}, []string{"400"}, true},
		} {
			got, closed := talk(t, address, tt.sent...)
			if diff := cmp.Diff(tt.want, got); diff != "" || closed != tt.closed {
				t.Errorf("%s: closed is %v, %s", name, closed, diff)
			}
		}
		for _, path := range []string{"/metrics", "/csrf-cookie", "/sandbox"} {
			if got, _ := talk(t, address, "GET "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"+chunks); len(got) != 1 || got[0] != "400" {
				t.Errorf("%s: %v", path, got)
			}
		}
	})
}
