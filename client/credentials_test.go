package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/client"
)

// tokens is a service whose access tokens can be invalidated by a test, and a token store.
type tokens struct {
	mu                sync.Mutex
	access, refresh   string
	refreshes, logins int
	stored            client.Tokens
	failing           error // error of Save
	reused            bool
	slow              chan struct{} // if not nil, a refresh waits for it
	arrived           chan struct{} // if not nil, the first refresh closes it
}

func (s *tokens) next() string {
	s.access, s.refresh = s.access+"+", s.refresh+"+"
	return fmt.Sprintf(`{"accessToken": %q, "refreshToken": %q, "user": {}}`, s.access, s.refresh)
}

func (s *tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Refresh string `json:"refresh_token"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	if strings.HasSuffix(r.URL.Path, "/auth/refresh") && s.slow != nil {
		close(s.arrived)
		<-s.slow
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(code string) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message": "No.", "code": %q}`, code)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/auth/login"):
		s.logins++
		fmt.Fprint(w, s.next())
	case strings.HasSuffix(r.URL.Path, "/auth/refresh") && in.Refresh != s.refresh:
		s.reused = true
		refuse("INVALID_REFRESH_TOKEN")
	case strings.HasSuffix(r.URL.Path, "/auth/refresh"):
		s.refreshes++
		fmt.Fprint(w, s.next())
	case r.Header.Get("Authorization") != "Bearer "+s.access:
		refuse("")
	default:
		fmt.Fprint(w, `{"data": []}`)
	}
}

func (s *tokens) Load(context.Context) (client.Tokens, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored, nil
}

func (s *tokens) Save(_ context.Context, t client.Tokens) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.stored = t
	}
	return s.failing
}

// expire invalidates the access token.
func (s *tokens) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access += "x"
}

func (s *tokens) start(t *testing.T, options ...client.Option) *client.Client {
	t.Helper()
	service := httptest.NewServer(s)
	t.Cleanup(service.Close)
	c, err := client.New(service.URL, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// If many goroutines find the token expired, it is refreshed once.
func TestRefreshIsASingleFlight(t *testing.T) {
	t.Parallel()
	s := &tokens{access: "a", refresh: "r", stored: client.Tokens{Access: "a", Refresh: "r"}}
	c := s.start(t, client.WithTokenStore(s))
	for round := 1; round <= 3; round++ {
		s.expire()
		var all sync.WaitGroup
		var failed atomic.Int32
		for range 50 {
			all.Go(func() {
				if _, err := c.ListCurrencies(t.Context()); err != nil {
					failed.Add(1)
				}
			})
		}
		all.Wait()
		if s.refreshes != round || failed.Load() != 0 || s.reused {
			t.Fatalf("round %d: %d refreshes, %d failures, reused %t", round, s.refreshes, failed.Load(), s.reused)
		}
		if want := (client.Tokens{Access: s.access, Refresh: s.refresh}); s.stored != want {
			t.Errorf("stored is %v, want %v", s.stored, want)
		}
	}
}

// If a caller gives up, the new token pair is not lost.
func TestRefreshSurvivesItsCaller(t *testing.T) {
	t.Parallel()
	s := &tokens{access: "new", refresh: "r", stored: client.Tokens{Access: "old", Refresh: "r"}, slow: make(chan struct{}), arrived: make(chan struct{})}
	c := s.start(t, client.WithTokenStore(s))
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { _, err := c.ListCurrencies(ctx); gone <- err }()
	<-s.arrived
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled caller got %v", err)
	}
	close(s.slow)
	if _, err := c.ListCurrencies(t.Context()); err != nil || s.refreshes != 1 {
		t.Errorf("%v after %d refreshes", err, s.refreshes)
	}
}

// If the refresh token has expired as well, a client with a password logs in again. A client
// without a password gets the error.
func TestLoginAfterRefresh(t *testing.T) {
	t.Parallel()
	s := &tokens{access: "a", refresh: "r"}
	c := s.start(t, client.WithLogin("ada@example.com", "secret"))
	for want := 1; want <= 2; want++ {
		if _, err := c.ListCurrencies(t.Context()); err != nil || s.logins != want {
			t.Fatalf("%v after %d logins", err, s.logins)
		}
		s.expire()
		s.refresh += "ended"
	}
	s = &tokens{access: "a", refresh: "r"}
	c = s.start(t, client.WithTokens(client.Tokens{Access: "old", Refresh: "ended"}))
	if _, err := c.ListCurrencies(t.Context()); !errors.Is(err, client.ErrInvalidRefreshToken) {
		t.Errorf("without a password: got %v", err)
	}
}

// A pair that could not be stored is not used until it is stored.
func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	s := &tokens{access: "new", refresh: "r", stored: client.Tokens{Access: "old", Refresh: "r"}, failing: errors.New("disk")}
	c := s.start(t, client.WithTokenStore(s))
	if _, err := c.ListCurrencies(t.Context()); err == nil || !strings.Contains(err.Error(), "disk") {
		t.Errorf("got %v", err)
	}
	s.mu.Lock()
	s.failing = nil
	s.mu.Unlock()
	if _, err := c.ListCurrencies(t.Context()); err != nil || s.refreshes != 1 || s.stored.Refresh != s.refresh {
		t.Errorf("%v after %d refreshes, stored %v", err, s.refreshes, s.stored)
	}
}
