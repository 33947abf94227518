package webpush_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account/webpush"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/accounttest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const pushPath = "/api/v1/push-subscriptions"

// newPushKeys returns the keys of a browser's subscription.
func newPushKeys(t testing.TB) (p256dh, auth string) {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret)
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(secret)
}

func subscriptionBody(endpoint, p256dh, auth string) string {
	return fmt.Sprintf(`{"endpoint": %q, "expirationTime": null, "keys": {"p256dh": %q, "auth": %q}}`, endpoint, p256dh, auth)
}

// browser is a subscription in a response.
type browser struct {
	ID        string `json:"id"`
	Endpoint  string `json:"endpoint"`
	CreatedAt string `json:"created_at"`
}

func (r *rig) subscribe(token, endpoint string) browser {
	r.T.Helper()
	p256dh, auth := newPushKeys(r.T)
	w := r.JSON("POST", pushPath, token, subscriptionBody(endpoint, p256dh, auth))
	var answer struct{ Data browser }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 201 {
		r.T.Fatalf("%d %s", w.Code, w.Body)
	}
	return answer.Data
}

func (r *rig) browsers(token string) []browser {
	r.T.Helper()
	w := r.Call("GET", pushPath, token, nil)
	var answer struct{ Data []browser }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 || answer.Data == nil {
		r.T.Fatalf("%d %s", w.Code, w.Body)
	}
	return answer.Data
}

func TestPushSubscriptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		if got := r.browsers("1"); len(got) != 0 {
			t.Errorf("%v", got)
		}
		first := r.subscribe("1", "https://push.example.com/1")
		second := r.subscribe("1", "https://push.example.com/2")
		got := r.browsers("1")
		if len(got) != 2 || got[0] != first || got[1] != second || first.Endpoint != "https://push.example.com/1" {
			t.Errorf("%v, want %v and %v", got, first, second)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000000Z", first.CreatedAt); err != nil {
			t.Error(err)
		}
		if w := r.Call("GET", pushPath, "1", nil); strings.Contains(w.Body.String(), "auth") || strings.Contains(w.Body.String(), "p256dh") {
			t.Errorf("response contains keys: %s", w.Body)
		}
		if got := r.browsers("2"); len(got) != 0 {
			t.Errorf("another user sees %v", got)
		}
		// Deleting an unknown subscription, or a subscription of another user, succeeds and deletes
		// nothing.
		for _, c := range []struct {
			token, endpoint string
			left            int
		}{{"2", first.Endpoint, 2}, {"1", "https://push.example.com/3", 2}, {"1", first.Endpoint, 1}, {"1", first.Endpoint, 1}} {
			w := r.JSON("DELETE", pushPath, c.token, fmt.Sprintf(`{"endpoint": %q}`, c.endpoint))
			if got := r.browsers("1"); w.Code != 204 || len(got) != c.left {
				t.Errorf("%v: %d, %v", c, w.Code, got)
			}
		}
		for method, body := range map[string]string{"GET": "", "POST": "{}", "DELETE": "{}"} {
			accounttest.WantRefusal(t, r.JSON(method, pushPath, "", body), 401, "")
		}
	})
}

func TestPushSubscriptionRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		const endpoint = "https://push.example.com/1"
		p256dh, auth := newPushKeys(t)
		for body, field := range map[string]string{
			`{"keys": {"p256dh": "` + p256dh + `", "auth": "` + auth + `"}}`:                   "endpoint",
			subscriptionBody("http://push.example.com/", p256dh, auth):                         "endpoint",
			subscriptionBody("javascript:alert(1)", p256dh, auth):                              "endpoint",
			subscriptionBody("https://u:p@push.example.com/", p256dh, auth):                    "endpoint",
			subscriptionBody("https://p.example.com/"+strings.Repeat("x", 2048), p256dh, auth): "endpoint",
			subscriptionBody(endpoint, "", auth):                                               "keys.p256dh",
			subscriptionBody(endpoint, auth, auth):                                             "keys.p256dh",
			subscriptionBody(endpoint, p256dh[:80], auth):                                      "keys.p256dh",
			subscriptionBody(endpoint, "B"+strings.Repeat("A", 86), auth):                      "keys.p256dh",
			subscriptionBody(endpoint, p256dh, ""):                                             "keys.auth",
			subscriptionBody(endpoint, p256dh, auth[:20]):                                      "keys.auth",
			subscriptionBody(endpoint, p256dh, p256dh):                                         "keys.auth",
			`{"endpoint": "` + endpoint + `"}`:                                                 "keys",
			`{"endpoint": "` + endpoint + `", "keys": null}`:                                   "keys",
		} {
			accounttest.WantRefusal(t, r.JSON("POST", pushPath, "1", body), 422, field)
		}
		accounttest.WantRefusal(t, r.JSON("DELETE", pushPath, "1", `{}`), 422, "endpoint")
		if got := r.browsers("1"); len(got) != 0 {
			t.Errorf("stored: %v", got)
		}
		longest := "https://push.example.com/"
		longest += strings.Repeat("x", 2048-len(longest))
		r.subscribe("1", longest)
	})
}

// A browser that subscribes again is the same browser, even with another user.
func TestSameEndpointMoves(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		const endpoint = "https://push.example.com/1"
		first := r.subscribe("1", endpoint)
		keys := func() int {
			return r.Number(`SELECT count(*) FROM push_subscriptions WHERE created_at <> updated_at`)
		}
		r.Clock.Advance(time.Hour)
		if again := r.subscribe("1", endpoint); again != first || len(r.browsers("1")) != 1 || keys() != 1 {
			t.Errorf("%v, then %v", first, again)
		}
		r.subscribe("2", endpoint)
		if one, two := r.browsers("1"), r.browsers("2"); len(one) != 0 || len(two) != 1 {
			t.Errorf("%v and %v", one, two)
		}
	})
}

func TestAtMostTwentyBrowsers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		const most = 20
		p256dh, auth := newPushKeys(t)
		var wg sync.WaitGroup
		var made, refusals atomic.Int32
		for i := range most + 5 { // concurrently, to test the limit
			wg.Go(func() {
				w := r.JSON("POST", pushPath, "1", subscriptionBody(fmt.Sprintf("https://push.example.com/%d", i), p256dh, auth))
				switch w.Code {
				case 201:
					made.Add(1)
				case 422:
					accounttest.WantRefusal(t, w, 422, "endpoint")
					refusals.Add(1)
				default:
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		wg.Wait()
		list := r.browsers("1")
		if made.Load() != most || refusals.Load() != 5 || len(list) != most {
			t.Errorf("%d created, %d rejected, %d stored", made.Load(), refusals.Load(), len(list))
		}
		r.subscribe("1", list[0].Endpoint) // an existing subscription
		other := r.subscribe("2", "https://push.example.com/of-another")
		accounttest.WantRefusal(t, r.JSON("POST", pushPath, "1", subscriptionBody(other.Endpoint, p256dh, auth)), 422, "endpoint")
		r.JSON("DELETE", pushPath, "1", fmt.Sprintf(`{"endpoint": %q}`, list[0].Endpoint))
		r.subscribe("1", "https://push.example.com/new")
	})
}

func TestOneKeyPair(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, dialect)
			var wg sync.WaitGroup
			var keys sync.Map
			for range 4 { // number of instances
				db := dbtest.Open(t, url)
				queue := jobs.New(jobs.Deps{DB: db, Clock: clock.System(), Lease: clock.System()})
				pushes := webpush.NewService(webpush.Deps{DB: db, Clock: clock.System(), Jobs: queue, Log: slog.New(slog.DiscardHandler)})
				for range 4 {
					wg.Go(func() {
						key, err := pushes.PublicKey(t.Context())
						if err != nil {
							t.Error(err)
						}
						keys.Store(key, true)
					})
				}
			}
			wg.Wait()
			n := 0
			keys.Range(func(key, _ any) bool {
				n++
				point, err := base64.RawURLEncoding.DecodeString(key.(string))
				if err != nil || len(point) != 65 {
					t.Errorf("%q: %v", key, err)
				}
				return true
			})
			if n != 1 {
				t.Errorf("%d public keys", n)
			}
		})
	}
}

// pushService counts the messages sent to each path and returns the configured statuses.
type pushService struct {
	url    string
	roots  *x509.CertPool
	mu     sync.Mutex
	sent   map[string]int
	ttl    string
	status map[string]int
}

func newPushService(t *testing.T) *pushService {
	t.Helper()
	s := &pushService{sent: map[string]int{}, status: map[string]int{}, roots: x509.NewCertPool()}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sent[r.URL.Path]++
		s.ttl = r.Header.Get("TTL")
		w.WriteHeader(max(s.status[r.URL.Path], 201))
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	s.roots.AddCert(srv.Certificate())
	return s
}

func (s *pushService) got(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[path]
}

func (s *pushService) answer(path string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[path] = status
}

func eachPush(t *testing.T, f func(t *testing.T, r *rig, s *pushService)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newPushService(t)
		f(t, newRig(t, db, safehttp.New(safehttp.Config{
			RootCAs: s.roots, Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		})), s)
	})
}

func (r *rig) notify(user int64) {
	r.T.Helper()
	if err := r.pushes.Notify(r.T.Context(), user, push.Message{Title: "Quota", Body: "80 %"}); err != nil {
		r.T.Fatal(err)
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	eachPush(t, func(t *testing.T, r *rig, s *pushService) {
		r.subscribe("1", s.url+"/a")
		r.subscribe("1", s.url+"/b")
		r.subscribe("2", s.url+"/of-another")
		r.Work()
		r.notify(1)
		r.notify(3) // no subscription
		if dead, retrying := r.Settle(); dead+retrying != 0 {
			t.Errorf("%d dead, %d retrying", dead, retrying)
		}
		if s.got("/a") != 1 || s.got("/b") != 1 || s.got("/of-another") != 0 {
			t.Errorf("sent %v", s.sent)
		}
		if ttl, err := time.ParseDuration(s.ttl + "s"); err != nil || ttl > 24*time.Hour || ttl < 23*time.Hour {
			t.Errorf("TTL %s", s.ttl)
		}
		if err := r.pushes.Notify(t.Context(), 1, push.Message{Title: strings.Repeat("x", 4000)}); !errors.Is(err, push.ErrRefused) {
			t.Errorf("a message that does not fit: %v", err)
		}
	})
}

func TestOutcomesOfPushes(t *testing.T) {
	t.Parallel()
	eachPush(t, func(t *testing.T, r *rig, s *pushService) {
		r.Work()
		deadBefore := 0
		for status, want := range map[int]struct {
			kept           bool
			dead, retrying int
		}{
			201: {true, 0, 0}, 410: {false, 0, 0}, 404: {false, 0, 0},
			400: {true, 1, 0}, 403: {true, 1, 0}, 429: {true, 0, 1}, 503: {true, 0, 1},
		} {
			path := fmt.Sprintf("/%d", status)
			s.answer(path, status)
			r.subscribe("1", s.url+path)
			r.notify(1)
			dead, retrying := r.Settle()
			if kept := len(r.browsers("1")) == 1; kept != want.kept || dead-deadBefore != want.dead || retrying != want.retrying {
				t.Errorf("%d: kept %t, %d dead, %d retrying", status, kept, dead-deadBefore, retrying)
			}
			if retrying == 1 {
				s.answer(path, 201)
				r.Advance(time.Minute)
				testkit.Eventually(t, "the second attempt", func() bool { return s.got(path) == 2 })
				if _, left := r.Settle(); s.got(path) != 2 || left != 0 {
					t.Errorf("%d: sent %d times, %d left", status, s.got(path), left)
				}
			}
			deadBefore = dead
			r.Exec(`DELETE FROM push_subscriptions`)
		}
	})
}

// A message for one user is not sent to the browser's next user.
func TestPushesToFormerUsers(t *testing.T) {
	t.Parallel()
	eachPush(t, func(t *testing.T, r *rig, s *pushService) {
		r.subscribe("1", s.url+"/moved")
		r.notify(1)
		r.subscribe("2", s.url+"/moved")
		r.subscribe("1", s.url+"/ended")
		r.notify(1)
		r.JSON("DELETE", pushPath, "1", fmt.Sprintf(`{"endpoint": %q}`, s.url+"/ended"))
		r.subscribe("1", s.url+"/there")
		r.notify(1)
		r.Work()
		if dead, retrying := r.Settle(); dead+retrying != 0 || len(s.sent) != 1 || s.got("/there") != 1 {
			t.Errorf("%d dead, %d retrying, sent %v", dead, retrying, s.sent)
		}
	})
}

func TestOldPushesAreNotSent(t *testing.T) {
	t.Parallel()
	for age, sent := range map[time.Duration]int{push.DefaultTTL - time.Minute: 1, push.DefaultTTL: 0} {
		t.Run(age.String(), func(t *testing.T) {
			t.Parallel()
			eachPush(t, func(t *testing.T, r *rig, s *pushService) {
				r.subscribe("1", s.url+"/a")
				r.notify(1)
				r.Clock.Advance(age)
				r.Work()
				if dead, retrying := r.Settle(); dead+retrying != 0 || s.got("/a") != sent {
					t.Errorf("%d dead, %d retrying, sent %v", dead, retrying, s.sent)
				}
			})
		})
	}
}

func TestSubscriptionsThatLeadInsideAreDropped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newPushService(t)
		r := newRig(t, db, safehttp.New(safehttp.Config{RootCAs: s.roots}))
		r.subscribe("1", s.url+"/a")
		r.subscribe("1", strings.Replace(s.url, "127.0.0.1", "localhost", 1)+"/b")
		r.Work()
		r.notify(1)
		if dead, retrying := r.Settle(); dead+retrying != 0 || len(r.browsers("1")) != 0 || len(s.sent) != 0 {
			t.Errorf("%d dead, %d retrying, %v, sent %v", dead, retrying, r.browsers("1"), s.sent)
		}
	})
}

func TestNotifyIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.subscribe("1", "https://push.example.com/1")
		failed := errors.New("failed")
		err := r.DB.Tx(t.Context(), func(ctx context.Context) error {
			return errors.Join(r.pushes.Notify(ctx, 1, push.Message{Title: "x"}), failed)
		})
		if n := r.Number(`SELECT count(*) FROM jobs`); !errors.Is(err, failed) || n != 0 {
			t.Errorf("%v, %d jobs", err, n)
		}
	})
}
