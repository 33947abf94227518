//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// The paths, plans and meters that the load uses.
const (
	api     = "/api/v1"
	basic   = "basic"  // a plan
	plus    = "plus"   // a more expensive plan
	metered = "usage"  // a plan with metered usage
	calls   = "calls"  // a meter that is never reset, without a price
	billed  = "billed" // a meter whose usage is billed
)

const password = "correct horse battery staple"

// retryTimeout is how long an operation is retried before the load gives up.
const retryTimeout = 90 * time.Second

// load uses the service like its customers. It retries operations that failed temporarily or got no
// response, with the same idempotency key, and records the acknowledged operations.
type load struct {
	*client

	provider *provider // nil without payments
	plans    map[string]string
	owners   []*owner
	stopping chan struct{}
	workers  sync.WaitGroup

	mu      sync.Mutex
	events  map[*owner]map[string]map[string]bool // acknowledged idempotency keys, by meter
	people  []*owner                              // acknowledged registrations
	invited map[*owner][]string                   // acknowledged invitations
	changes map[*owner]int                        // acknowledged changes of plan
	bought  []*owner                              // paid checkouts
}

// owner is the owner of a tenant.
type owner struct {
	email, token, tenant string

	mu sync.Mutex // held while the token is renewed
}

func (o *owner) path(below string) string { return api + "/tenant/" + o.tenant + below }

func newLoad(c *client, p *provider) *load {
	return &load{
		client: c, provider: p, plans: map[string]string{}, stopping: make(chan struct{}),
		events: map[*owner]map[string]map[string]bool{}, invited: map[*owner][]string{}, changes: map[*owner]int{},
	}
}

// retry repeats f, with short pauses, until it returns true. It reports whether that happened
// before the timeout.
func (l *load) retry(ctx context.Context, f func() bool) bool {
	for began := clock.System().Now(); clock.System().Now().Sub(began) < retryTimeout; {
		if f() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(25 * time.Millisecond):
		}
	}
	return false
}

// requestAs sends a request as an owner and renews the owner's expired session.
func (l *load) requestAs(ctx context.Context, o *owner, method, path string, body any, expected ...int) answer {
	a := l.do(ctx, method, path, o.token, body, append(expected, http.StatusUnauthorized)...)
	if a.status != http.StatusUnauthorized {
		return a
	}
	l.logIn(ctx, o)
	return answer{status: http.StatusServiceUnavailable} // the caller retries
}

func (l *load) logIn(ctx context.Context, o *owner) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := l.do(ctx, http.MethodPost, api+"/auth/login", "", fields{"email": o.email, "password": password})
	if a.isOK() {
		o.token, o.tenant = a.textAt("accessToken"), a.textAt("user", "tenants", "0", "id")
	}
	return a.isOK()
}

// register creates an account with a tenant. It retries until the account is known to exist.
func (l *load) register(ctx context.Context, email string) (*owner, bool) {
	o := &owner{email: email}
	tried := false
	done := l.retry(ctx, func() bool {
		var expected []int
		if tried {
			expected = []int{http.StatusUnprocessableEntity} // the email is in use: an earlier attempt succeeded
		}
		a := l.do(ctx, http.MethodPost, api+"/auth/register", "", fields{
			"name": "Ada", "email": email, "password": password, "password_confirmation": password,
		}, expected...)
		if a.isOK() {
			o.token, o.tenant = a.textAt("accessToken"), a.textAt("user", "tenants", "0", "id")
			return true
		}
		done := tried && a.status == http.StatusUnprocessableEntity && l.logIn(ctx, o)
		tried = true
		return done || !a.isRetryable() && a.status != http.StatusUnprocessableEntity
	})
	return o, done && o.token != ""
}

// onboard completes a tenant's billing details.
func (l *load) onboard(ctx context.Context, o *owner) bool {
	return l.retry(ctx, func() bool {
		return l.requestAs(ctx, o, http.MethodPatch, api+"/onboarding/complete-setup", fields{
			"legal_name": "Analytical Engines Ltd", "address": "12 St James Square", "city": "London",
			"postal_code": "SW1Y 4JH", "country": "GB", "billing_email": o.email,
		}).isOK()
	})
}

// buy opens a checkout for a plan and pays on the hosted page.
func (l *load) buy(ctx context.Context, o *owner, plan string) bool {
	page := ""
	opened := l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/checkout"), fields{
			"plan_id": l.plans[plan], "currency": "EUR", "quantity": 1,
			"success_url": "https://app.example.com/ok", "cancel_url": "https://app.example.com/no",
		}, http.StatusConflict)
		page = a.textAt("data", "url")
		return a.isOK()
	})
	if !opened {
		return false
	}
	stop := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, page, strings.NewReader(url.Values{"card_number": {"4242 4242 4242 4242"}}.Encode()))
	if err != nil {
		l.recordFault("the page of a checkout: %v", err)
		return false
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := stop.Do(r)
	if err != nil {
		l.recordFault("pay a checkout: %v", err)
		return false
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		l.recordFault("pay a checkout: %s", resp.Status)
	}
	return resp.StatusCode == http.StatusSeeOther
}

// planOf returns the id of the plan of an owner's tenant. It returns "" if there is no plan or the
// request failed.
func (l *load) planOf(ctx context.Context, o *owner) string {
	a := l.requestAs(ctx, o, http.MethodGet, o.path("/subscription"), nil)
	if s := a.textAt("data", "status"); s != "active" && s != "past_due" {
		return ""
	}
	return a.textAt("data", "plan", "id")
}

// prepare creates the customers of the load.
func (l *load) prepare(ctx context.Context) error {
	if !l.retry(ctx, func() bool {
		a := l.do(ctx, http.MethodGet, api+"/catalog/plans", "", nil)
		for i := 0; ; i++ {
			id := a.textAt("data", strconv.Itoa(i), "id")
			if id == "" {
				return a.isOK()
			}
			l.plans[a.textAt("data", strconv.Itoa(i), "slug")] = id
		}
	}) {
		return fmt.Errorf("the catalog is not answered: %v", l.wrong)
	}
	for i, plan := range []string{plus, basic, basic, metered} { // one owner per plan first, because the first sale of a plan changes the catalog
		o, ok := l.register(ctx, fmt.Sprintf("owner-%d@chaos.test", i))
		if !ok || !l.onboard(ctx, o) {
			return fmt.Errorf("no customer could be made: %v", l.wrong)
		}
		l.people, l.owners = append(l.people, o), append(l.owners, o)
		if l.provider == nil {
			continue
		}
		if !l.buy(ctx, o, plan) || !l.retry(ctx, func() bool { return l.planOf(ctx, o) == l.plans[plan] }) {
			return fmt.Errorf("no customer could buy: %v", l.wrong)
		}
		l.bought = append(l.bought, o)
	}
	if len(l.wrong) > 0 {
		return fmt.Errorf("before anything failed: %v", l.wrong)
	}
	return nil
}

// start starts the load.
func (l *load) start(ctx context.Context) {
	work := func(pause time.Duration, f func(n int)) {
		l.workers.Go(func() {
			for n := 0; ; n++ {
				f(n)
				select {
				case <-l.stopping:
					return
				case <-ctx.Done():
					return
				case <-time.After(pause):
				}
			}
		})
	}
	for w := range 3 {
		work(5*time.Millisecond, func(n int) { l.record(ctx, l.owners[w], calls, fmt.Sprintf("%d-%d", w, n)) })
	}
	work(50*time.Millisecond, func(n int) { l.recordBatch(ctx, l.owners[0], n) })
	work(20*time.Millisecond, func(n int) { l.read(ctx, n) })
	work(300*time.Millisecond, func(n int) { l.signUp(ctx, n) })
	work(200*time.Millisecond, func(n int) { l.invite(ctx, l.owners[1], n) })
	if l.provider != nil {
		work(50*time.Millisecond, func(n int) { l.record(ctx, l.owners[3], billed, fmt.Sprintf("b-%d", n)) })
		for _, o := range l.owners[1:3] {
			work(250*time.Millisecond, func(n int) { l.change(ctx, o, []string{plus, basic}[n%2]) })
		}
	}
}

// stop waits until the operations in progress are complete.
func (l *load) stop() {
	close(l.stopping)
	l.workers.Wait()
}

// acknowledge records that events were acknowledged.
func (l *load) acknowledge(o *owner, meter string, keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events[o] == nil {
		l.events[o] = map[string]map[string]bool{}
	}
	if l.events[o][meter] == nil {
		l.events[o][meter] = map[string]bool{}
	}
	for _, key := range keys {
		l.events[o][meter][key] = true
	}
}

// record records an event of one unit.
func (l *load) record(ctx context.Context, o *owner, meter, key string) {
	var expected []int // for retries: 409 means that it was stored
	l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/usage"), fields{"meter_code": meter, "quantity": 1, "idempotency_key": key}, expected...)
		expected = []int{http.StatusConflict}
		if a.isOK() || a.status == http.StatusConflict {
			l.acknowledge(o, meter, key)
		}
		return !a.isRetryable()
	})
}

// recordBatch records twenty events in one request.
func (l *load) recordBatch(ctx context.Context, o *owner, n int) {
	var events []fields
	var keys []string
	for i := range 20 {
		key := fmt.Sprintf("batch-%d-%d", n, i)
		keys = append(keys, key)
		events = append(events, fields{"meter_code": calls, "quantity": 1, "idempotency_key": key})
	}
	l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/usage/batch"), fields{"events": events})
		again := a.isRetryable()
		for i, key := range keys {
			switch status := a.textAt("data", strconv.Itoa(i), "status"); {
			case !a.isOK():
			case status == "201", status == "409":
				l.acknowledge(o, calls, key)
			case status == "503":
				again = true
			default:
				l.recordFault("an event of a batch: %s", a.body)
			}
		}
		return !again
	})
}

// read sends a read request.
func (l *load) read(ctx context.Context, n int) {
	o := l.owners[n%len(l.owners)]
	paths := []string{api + "/auth/me", o.path("/usage/quotas"), o.path("/subscription"), o.path("/team/members"), api + "/catalog/plans"}
	l.requestAs(ctx, o, http.MethodGet, paths[n%len(paths)], nil)
}

// signUp registers a user. Every third user buys a plan.
func (l *load) signUp(ctx context.Context, n int) {
	o, ok := l.register(ctx, fmt.Sprintf("new-%d@chaos.test", n))
	if !ok {
		return
	}
	l.mu.Lock()
	l.people = append(l.people, o)
	l.mu.Unlock()
	if l.provider == nil || n%3 > 0 || !l.onboard(ctx, o) || !l.buy(ctx, o, basic) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bought = append(l.bought, o)
}

// invite invites a user to a tenant, which sends an email.
func (l *load) invite(ctx context.Context, o *owner, n int) {
	email := fmt.Sprintf("guest-%d@chaos.test", n)
	var expected []int
	done := l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/team/invitations"), fields{"email": email, "role": "member"}, expected...)
		expected = []int{http.StatusConflict, http.StatusUnprocessableEntity} // an earlier attempt succeeded
		return !a.isRetryable()
	})
	if !done {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.invited[o] = append(l.invited[o], email)
}

// change changes a tenant's plan, which is paid immediately. It retries until the tenant has the
// plan.
func (l *load) change(ctx context.Context, o *owner, plan string) {
	expected := []int{http.StatusConflict} // an earlier change, whose instance was killed, is not complete
	done := l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/subscription/change-plan"), fields{"new_plan_id": l.plans[plan]}, expected...)
		expected = []int{http.StatusConflict, http.StatusUnprocessableEntity} // or an earlier attempt succeeded
		return a.isOK() || l.planOf(ctx, o) == l.plans[plan]
	})
	if !done {
		if ctx.Err() == nil {
			l.recordFault("%s could not change to %s", o.email, plan)
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes[o]++
}
