package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantry/tenantry/client"
)

// granted is a response with one feature whose limit is n.
func granted(n int, more string) answer {
	return answer{status: 200, body: fmt.Sprintf(`{"data": [{"key": "api-calls", "enabled": true, "type": "quota", "limit": %d, "used": null, "remaining": null}]%s}`, n, more)}
}

// limitOf returns the limit of the feature.
func limitOf(c *client.Client, tenant string) (int64, error) {
	list, err := c.CachedEntitlements(context.Background(), tenant)
	if err != nil {
		return 0, err
	}
	return list[0].Limit.MustGet(), nil
}

func TestCachedEntitlements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{granted(1, "")}}
		c := s.client(t)
		want := func(tenant string, limit int64, requests int) {
			t.Helper()
			if got, err := limitOf(c, tenant); got != limit || err != nil || len(s.seen) != requests {
				t.Errorf("limit %d after %d requests: %v; want %d after %d", got, len(s.seen), err, limit, requests)
			}
		}
		answers := func(list ...answer) { s.answers, s.seen = list, nil }
		want("t", 1, 1)
		if got := s.seen[0].URL.Path; got != "/prefix/api/v1/tenant/t/entitlements" {
			t.Error(got)
		}
		answers(granted(2, ""))
		want("t", 1, 0)
		time.Sleep(59 * time.Second)
		want("t", 1, 0)
		want("u", 2, 1)
		time.Sleep(time.Second)
		want("t", 2, 2)

		// During an outage, the last response applies for 24 hours. Each call makes one attempt.
		time.Sleep(time.Minute)
		answers(broken, answer{status: 500}, answer{status: 503, header: map[string]string{"Retry-After": "1"}}, answer{status: 502})
		for i := range 4 {
			want("t", 2, i+1)
		}
		time.Sleep(24*time.Hour - time.Minute - time.Second)
		want("t", 2, 5)
		time.Sleep(time.Second)
		if _, err := limitOf(c, "t"); client.StatusOf(err) != 502 {
			t.Errorf("after 24 hours: %v", err)
		}
		answers(granted(3, ""))
		want("t", 3, 1)

		// Callers can modify the returned list.
		list, _ := c.CachedEntitlements(t.Context(), "t")
		list[0].Key = "changed"
		if again, _ := c.CachedEntitlements(t.Context(), "t"); again[0].Key != "api-calls" {
			t.Error("a caller changed the cache")
		}
	})
}

// A refusal is returned, and removes the cached entitlements.
func TestRefusedEntitlements(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 404, 429} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: []answer{granted(1, ""), {status: status}, {status: 500}}}
			c := s.client(t)
			if _, err := limitOf(c, "t"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if _, err := limitOf(c, "t"); client.StatusOf(err) != status {
				t.Errorf("%d: %v", status, err)
			}
			if _, err := limitOf(c, "t"); status != 429 && client.StatusOf(err) != 500 {
				t.Errorf("after %d: %v", status, err)
			}
		})
	}
}

// valid_until limits the cache, also during an outage.
func TestEntitlementsAreValidUntil(t *testing.T) {
	t.Parallel()
	for _, form := range []string{`, "valid_until": %q`, `, "valid_until": null`} {
		synctest.Test(t, func(t *testing.T) {
			limited := form != `, "valid_until": null`
			more := form
			if limited {
				more = fmt.Sprintf(form, time.Now().Add(30*time.Second).Format(time.RFC3339))
			}
			s := &script{answers: []answer{granted(1, more), granted(2, ""), broken}}
			c := s.client(t)
			for i, want := range []int64{1, 1} {
				if got, err := limitOf(c, "t"); got != want || err != nil {
					t.Errorf("%d: %d, %v", i, got, err)
				}
			}
			time.Sleep(30 * time.Second)
			want := int64(1)
			if limited {
				want = 2
			}
			if got, err := limitOf(c, "t"); got != want || err != nil {
				t.Errorf("after 30 seconds: %d, %v", got, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		row := `{"data": [{"key": "api-calls", "enabled": true, "type": "quota", "limit": 1, "valid_until": "` + time.Now().Add(90*time.Second).Format(time.RFC3339) + `"}]}`
		s := &script{answers: []answer{{status: 200, body: row}, broken}}
		c := s.client(t)
		for _, wait := range []time.Duration{0, 70 * time.Second} {
			time.Sleep(wait)
			if got, err := limitOf(c, "t"); got != 1 || err != nil {
				t.Errorf("after %s: %d, %v", wait, got, err)
			}
		}
		time.Sleep(20 * time.Second)
		if _, err := limitOf(c, "t"); err == nil {
			t.Error("entitlements were returned after valid_until")
		}
	})
}

// A service that does not answer delays a caller with cached entitlements by 5 seconds.
func TestEntitlementsOfHangingService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{granted(1, "")}}
		hangs := false
		c, err := client.New("https://billing.example.com", client.WithHTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if hangs {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return s.RoundTrip(r)
		})}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := limitOf(c, "t"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		hangs = true
		began := time.Now()
		if got, err := limitOf(c, "t"); got != 1 || err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("%d, %v after %s", got, err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if list, err := c.CachedEntitlements(ctx, "t"); len(list) != 1 || err != nil {
			t.Errorf("with a deadline: %v, %v", list, err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := c.CachedEntitlements(ended, "t"); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled call: %v", err)
		}
		time.Sleep(time.Minute) // ends the request
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Concurrent callers share a request.
func TestEntitlementsAreLoadedOnce(t *testing.T) {
	t.Parallel()
	s := &script{answers: []answer{granted(1, "")}}
	c := s.client(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := limitOf(c, "t"); got != 1 || err != nil {
				t.Errorf("%d, %v", got, err)
			}
		})
	}
	wg.Wait()
	if len(s.seen) != 1 {
		t.Errorf("%d requests", len(s.seen))
	}
}
