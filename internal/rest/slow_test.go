package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/testkit"
)

// open sends the head of a request for a gadget and the beginning of its body.
func open(t *testing.T, s *server, path string, length int, begin string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer owner\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, length, begin)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// status reads a response and reports whether the connection is closed after it.
func status(t *testing.T, conn net.Conn) (code int, closed bool) {
	t.Helper()
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if !resp.Close {
		return resp.StatusCode, false
	}
	_, err = r.ReadByte()
	return resp.StatusCode, err != nil
}

// A JSON body can pause for 5 seconds and take 10 seconds in total.
func TestDeadlinesOfBodies(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	t.Run("a pause", func(t *testing.T) {
		t.Parallel()
		began := clock.System().Now()
		code, closed := status(t, open(t, s, "/api/v1/gadgets", 100, `{`))
		if took := clock.System().Now().Sub(began); code != http.StatusRequestTimeout || !closed || took < 4*time.Second {
			t.Errorf("%d after %s, closed %t", code, took, closed)
		}
	})
	t.Run("a slow body", func(t *testing.T) {
		t.Parallel()
		began := clock.System().Now()
		conn := open(t, s, "/api/v1/gadgets", 100, `{`)
		go func() {
			for range 50 {
				if _, err := conn.Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		code, _ := status(t, conn)
		if took := clock.System().Now().Sub(began); code != http.StatusRequestTimeout || took < 9*time.Second || took > 30*time.Second {
			t.Errorf("%d after %s", code, took)
		}
	})
	t.Run("a body in time", func(t *testing.T) {
		t.Parallel()
		const body = `{"name":"bolt"}`
		conn := open(t, s, "/api/v1/gadgets", len(body), body[:5])
		time.Sleep(time.Second)
		if _, err := conn.Write([]byte(body[5:])); err != nil {
			t.Fatal(err)
		}
		if code, closed := status(t, conn); code != http.StatusCreated || closed {
			t.Errorf("%d, closed %t", code, closed)
		}
	})
}

// The credential is checked again after a slow body, but not after a fast one.
func TestCallersAreCheckedAfterASlowBody(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	var asked atomic.Int64
	s := start(t, routes(), func(c *rest.Config) {
		c.Authenticate = func(context.Context, string) (*authz.Caller, error) {
			asked.Add(1)
			if revoked.Load() {
				return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
			}
			caller := *callers["owner"]
			return &caller, nil
		}
	})
	const body = `{"name":"bolt"}`
	finish := func() int {
		conn := open(t, s, "/api/v1/gadgets", len(body), body[:5])
		time.Sleep(300 * time.Millisecond)
		revoked.Store(true)
		if _, err := conn.Write([]byte(body[5:])); err != nil {
			t.Fatal(err)
		}
		code, _ := status(t, conn)
		return code
	}
	if code := finish(); code != http.StatusUnauthorized || asked.Load() != 2 {
		t.Errorf("%d, called %d times", code, asked.Load())
	}
}

// downloads serves a file in pages. Pages after the first wait for more.
func downloads(t *testing.T, more <-chan struct{}, revoked *atomic.Bool) *server {
	return start(t, []rest.Route{{
		Method: http.MethodGet, Path: "/api/v1/file", Scope: rest.Member,
		Handler: rest.File(func(ctx context.Context, _ *struct{}) (*rest.Blob, error) {
			pages := 0
			return &rest.Blob{ContentType: "text/plain", Length: -1, Stream: rest.Pages(ctx, func(_ context.Context, page *bytes.Buffer) (bool, error) {
				if pages++; pages > 1 {
					<-more
				}
				page.WriteString(strings.Repeat("x", 40<<10))
				return pages < 3, nil
			})}, nil
		}, "text/plain"),
	}}, func(c *rest.Config) {
		c.Authenticate = func(_ context.Context, token string) (*authz.Caller, error) {
			id, _ := strconv.ParseInt(token, 10, 64)
			if revoked.Load() {
				return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
			}
			return &authz.Caller{UserID: id, Tenant: &authz.Membership{TenantID: ownTenant}}, nil
		}
	})
}

// begin starts a download and reads its first page. It returns the body, or nil if the request was
// rejected.
func begin(t *testing.T, s *server, user int) io.ReadCloser {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/file", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strconv.Itoa(user))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "" {
		_ = resp.Body.Close()
		return nil
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 40<<10)); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %v", resp.StatusCode, err)
	}
	return resp.Body
}

// A caller can have 4 open downloads, a tenant 16. A finished download releases its slot.
func TestOpenDownloadsAreLimited(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	s := downloads(t, more, new(atomic.Bool))
	var all []io.ReadCloser
	for user := range 4 {
		for range 4 {
			body := begin(t, s, user)
			if body == nil {
				t.Fatalf("download %d is refused", len(all)+1)
			}
			all = append(all, body)
		}
		if begin(t, s, user) != nil {
			t.Errorf("user %d has five downloads", user)
		}
	}
	if begin(t, s, 9) != nil {
		t.Error("a tenant has 17 downloads")
	}
	close(more)
	for _, body := range all {
		if n, err := io.Copy(io.Discard, body); n != 80<<10 || err != nil {
			t.Errorf("%d bytes more, %v", n, err)
		}
		_ = body.Close()
	}
	// A download counts until its handler has returned.
	testkit.Eventually(t, "the end of the downloads", func() bool {
		body := begin(t, s, 0)
		if body != nil {
			_ = body.Close()
		}
		return body != nil
	})
}

// A download is cut off before its next page if the caller's credential was revoked.
func TestDownloadsEndWithTheirCredential(t *testing.T) {
	t.Parallel()
	more, revoked := make(chan struct{}, 2), new(atomic.Bool)
	s := downloads(t, more, revoked)
	body := begin(t, s, 1)
	revoked.Store(true)
	more <- struct{}{} // The second page may already have been checked.
	more <- struct{}{}
	n, err := io.Copy(io.Discard, body)
	_ = body.Close()
	if n > 40<<10 || err == nil {
		t.Errorf("%d bytes more, %v", n, err)
	}
}
