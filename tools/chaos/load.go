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

// The paths and codes that the load uses.
const (
	api     = "/api/v1"
	basic   = "basic"  // a plan
	plus    = "plus"   // a dearer one
	metered = "usage"  // one whose usage is billed
	calls   = "calls"  // a meter of all time without a price
	billed  = "billed" // a meter whose usage is billed
)

const password = "correct horse battery staple"

// retryTimeout is how long one piece of work is tried again before the load gives it up.
const retryTimeout = 90 * time.Second

// load works with the service as its customers do: it tries again, with the same
// idempotency key, what was not answered or refused for now, and takes down what was
// acknowledged.
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

// owner is a user with a tenant.
type owner struct {
	email, token, tenant string

	mu sync.Mutex // held while token is renewed
}

func (o *owner) path(below string) string { return api + "/tenant/" + o.tenant + below }

func newLoad(c *client, p *provider) *load {
	return &load{
		client: c, provider: p, plans: map[string]string{}, stopping: make(chan struct{}),
		events: map[*owner]map[string]map[string]bool{}, invited: map[*owner][]string{}, changes: map[*owner]int{},
	}
}

// retry repeats f until it reports that it is done, with short pauses, and reports whether
// it was done before its time was over.
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

// requestAs makes a request as an owner, whose login is renewed when it has expired.
func (l *load) requestAs(ctx context.Context, o *owner, method, path string, body any, expected ...int) answer {
	a := l.do(ctx, method, path, o.token, body, append(expected, http.StatusUnauthorized)...)
	if a.status != http.StatusUnauthorized {
		return a
	}
	l.logIn(ctx, o)
	return answer{status: http.StatusServiceUnavailable} // to be tried again
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

// register makes an account with a tenant. It tries until it knows that there is one.
func (l *load) register(ctx context.Context, email string) (*owner, bool) {
	o := &owner{email: email}
	tried := false
	done := l.retry(ctx, func() bool {
		var expected []int
		if tried {
			expected = []int{http.StatusUnprocessableEntity} // the address is taken: it was done
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

// onboard gives a tenant its billing details.
func (l *load) onboard(ctx context.Context, o *owner) bool {
	return l.retry(ctx, func() bool {
		return l.requestAs(ctx, o, http.MethodPatch, api+"/onboarding/complete-setup", fields{
			"legal_name": "Analytical Engines Ltd", "address": "12 St James Square", "city": "London",
			"postal_code": "SW1Y 4JH", "country": "GB", "billing_email": o.email,
		}).isOK()
	})
}

// buy opens a checkout for a plan and pays at the hosted page.
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

// planOf returns the id of the plan that an owner's tenant has, "" for none or if it could
// not be asked.
func (l *load) planOf(ctx context.Context, o *owner) string {
	a := l.requestAs(ctx, o, http.MethodGet, o.path("/subscription"), nil)
	if s := a.textAt("data", "status"); s != "active" && s != "past_due" {
		return ""
	}
	return a.textAt("data", "plan", "id")
}

// prepare makes the customers that the load works with.
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
	for i, plan := range []string{plus, basic, basic, metered} { // each once: selling a plan first changes the catalog
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

// start lets the load begin.
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

// stop lets the load finish what it has begun.
func (l *load) stop() {
	close(l.stopping)
	l.workers.Wait()
}

// acknowledge takes down that an event was acknowledged.
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
	var expected []int // of a repetition: it was stored
	l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/usage"), fields{"meter_code": meter, "quantity": 1, "idempotency_key": key}, expected...)
		expected = []int{http.StatusConflict}
		if a.isOK() || a.status == http.StatusConflict {
			l.acknowledge(o, meter, key)
		}
		return !a.isRetryable()
	})
}

// recordBatch records twenty events at once.
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

// read asks for what people look at.
func (l *load) read(ctx context.Context, n int) {
	o := l.owners[n%len(l.owners)]
	paths := []string{api + "/auth/me", o.path("/usage/quotas"), o.path("/subscription"), o.path("/team/members"), api + "/catalog/plans"}
	l.requestAs(ctx, o, http.MethodGet, paths[n%len(paths)], nil)
}

// signUp registers somebody; every third one buys something.
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

// invite invites somebody to a tenant, which mails them.
func (l *load) invite(ctx context.Context, o *owner, n int) {
	email := fmt.Sprintf("guest-%d@chaos.test", n)
	var expected []int
	done := l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/team/invitations"), fields{"email": email, "role": "member"}, expected...)
		expected = []int{http.StatusConflict, http.StatusUnprocessableEntity} // they are invited already
		return !a.isRetryable()
	})
	if !done {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.invited[o] = append(l.invited[o], email)
}

// change changes a tenant's plan, which is paid at once. It tries until the tenant has it.
func (l *load) change(ctx context.Context, o *owner, plan string) {
	expected := []int{http.StatusConflict} // the change before is not over: whoever made it was killed
	done := l.retry(ctx, func() bool {
		a := l.requestAs(ctx, o, http.MethodPost, o.path("/subscription/change-plan"), fields{"new_plan_id": l.plans[plan]}, expected...)
		expected = []int{http.StatusConflict, http.StatusUnprocessableEntity} // or it was made
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
