//go:build linux

package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// tally counts lost and duplicated work of the load.
type tally struct {
	acknowledged, lost, doubled int
	examples                    []string
}

func (t *tally) recordLoss(format string, args ...any) {
	t.lost++
	t.example("lost: "+format, args...)
}

func (t *tally) recordDouble(format string, args ...any) {
	t.doubled++
	t.example("doubled: "+format, args...)
}

func (t *tally) example(format string, args ...any) {
	if len(t.examples) < 10 {
		t.examples = append(t.examples, fmt.Sprintf(format, args...))
	}
}

// mailbox returns the number of received mails by recipient and subject.
type mailbox func(context.Context) (map[letter]int, error)

// settleTimeout is the maximum time for the background work after all faults have ended.
const settleTimeout = 2 * time.Minute

// settle waits until the background work of the load is complete, or until the timeout, and returns
// the result.
func (l *load) settle(ctx context.Context, mails mailbox, meter string) (*tally, error) {
	began := clock.System().Now()
	for {
		t, err := l.count(ctx, mails, meter)
		if err != nil || t.lost == 0 || clock.System().Now().Sub(began) > settleTimeout {
			return t, err
		}
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// count compares the acknowledged work with the stored data.
func (l *load) count(ctx context.Context, mails mailbox, meter string) (*tally, error) {
	t := &tally{}
	for _, part := range []func() error{
		func() error { return l.countMails(ctx, t, mails) },
		func() error { return l.countPayments(ctx, t, meter) },
		func() error { return l.countEvents(ctx, t) },
		func() error { return l.countPeople(ctx, t) },
	} {
		if err := part(); err != nil {
			return nil, err
		}
		if t.lost > 0 && t.doubled == 0 {
			return t, nil // it may still arrive
		}
	}
	return t, nil
}

// get retries a GET request until it succeeds.
func (l *load) get(ctx context.Context, o *owner, path string) (a answer, err error) {
	if !l.retry(ctx, func() bool { a = l.requestAs(ctx, o, http.MethodGet, path, nil); return a.isOK() }) {
		return a, fmt.Errorf("%s was answered %d after all: %s", path, a.status, a.body)
	}
	return a, nil
}

// countEvents compares the acknowledged events with the exported events and with the meter.
func (l *load) countEvents(ctx context.Context, t *tally) error {
	for o, meters := range l.events {
		for meter, keys := range meters {
			t.acknowledged += len(keys)
			query := url.Values{"meter_code": {meter}, "from": {"2000-01-01"}, "to": {"2100-01-01"}}
			a, err := l.get(ctx, o, o.path("/usage/export?"+query.Encode()))
			if err != nil {
				return err
			}
			lines, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
			if err != nil || len(lines) == 0 {
				return fmt.Errorf("the export of %s: %w", meter, err)
			}
			stored := map[string]int{}
			for _, line := range lines[1:] {
				stored[line[4]]++
			}
			for key := range keys {
				if stored[key] == 0 {
					t.recordLoss("the event %s of %s", key, meter)
				}
			}
			for key, times := range stored {
				if times > 1 {
					t.recordDouble("the event %s of %s is stored %d times", key, meter, times)
				}
			}
			if a, err = l.get(ctx, o, o.path("/usage/"+meter)); err != nil {
				return err
			}
			if shown, _ := strconv.Atoi(a.textAt("data", "current_usage")); shown > len(stored) {
				t.recordDouble("%s shows %d for %d events", meter, shown, len(stored))
			} else if shown < len(stored) {
				t.recordLoss("%s shows %d for %d events", meter, shown, len(stored))
			}
		}
	}
	return nil
}

// countPeople checks that registered users can log in and have one tenant, and that invited users
// have exactly one invitation.
func (l *load) countPeople(ctx context.Context, t *tally) error {
	for _, o := range l.people {
		t.acknowledged++
		a := answer{}
		if !l.retry(ctx, func() bool {
			a = l.do(ctx, http.MethodPost, api+"/auth/login", "", fields{"email": o.email, "password": password}, http.StatusUnauthorized, http.StatusUnprocessableEntity)
			return !a.isRetryable()
		}) {
			return fmt.Errorf("the login of %s was answered %d after all", o.email, a.status)
		}
		switch {
		case !a.isOK() || a.textAt("user", "tenants", "0", "id") != o.tenant:
			t.recordLoss("the account of %s: %d", o.email, a.status)
		case a.textAt("user", "tenants", "1", "id") != "":
			t.recordDouble("%s has two tenants", o.email)
		}
	}
	for o, emails := range l.invited {
		a, err := l.get(ctx, o, o.path("/team/invitations"))
		if err != nil {
			return err
		}
		listed := map[string]int{}
		for i := 0; a.textAt("data", strconv.Itoa(i), "id") != ""; i++ {
			listed[a.textAt("data", strconv.Itoa(i), "email")]++
		}
		for _, email := range emails {
			if listed[email] == 0 {
				t.recordLoss("the invitation of %s", email)
			} else if listed[email] > 1 {
				t.recordDouble("%s is invited %d times", email, listed[email])
			}
		}
	}
	return nil
}

// countMails checks that each invitation was mailed exactly once.
func (l *load) countMails(ctx context.Context, t *tally, mails mailbox) error {
	got, err := mails(ctx)
	if err != nil {
		return err
	}
	to := map[string]int{}
	for l, n := range got {
		to[l.to] += n
	}
	for _, emails := range l.invited {
		for _, email := range emails {
			t.acknowledged++
			if to[email] == 0 {
				t.recordLoss("the mail to %s", email)
			} else if to[email] > 1 {
				t.recordDouble("%s got %d mails", email, to[email])
			}
		}
	}
	return nil
}

// countPayments compares the acknowledged changes and purchases with the provider's objects and
// with the service's data.
func (l *load) countPayments(ctx context.Context, t *tally, meter string) error {
	if l.provider == nil {
		return nil
	}
	customers, err := l.provider.list(ctx, "/v1/customers", url.Values{})
	if err != nil {
		return err
	}
	subscriptions, err := l.provider.list(ctx, "/v1/subscriptions", url.Values{"status": {"all"}})
	if err != nil {
		return err
	}
	invoices, err := l.provider.list(ctx, "/v1/invoices", url.Values{})
	if err != nil {
		return err
	}
	tenantOf, running, begun, changed := map[string]string{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range customers {
		tenantOf[c.ID] = c.Metadata["tenant_id"]
	}
	for _, s := range subscriptions {
		if s.Status != "canceled" && s.Status != "incomplete_expired" {
			running[tenantOf[s.Customer]]++
		}
	}
	for _, in := range invoices {
		switch in.BillingReason {
		case "subscription_create":
			begun[tenantOf[in.Customer]]++
		case "subscription_update":
			changed[tenantOf[in.Customer]]++
		}
	}
	for _, o := range l.bought {
		t.acknowledged++
		switch {
		case l.planOf(ctx, o) == "":
			t.recordLoss("the subscription of %s", o.email)
		case running[o.tenant] != 1 || begun[o.tenant] != 1:
			t.recordDouble("%s has %d subscriptions and paid %d", o.email, running[o.tenant], begun[o.tenant])
		}
	}
	for o, n := range l.changes {
		t.acknowledged += n
		if billed := changed[o.tenant]; billed > n {
			t.recordDouble("%s changed %d times and was billed %d times", o.email, n, billed)
		} else if billed < n {
			t.recordLoss("%s changed %d times and was billed %d times", o.email, n, billed)
		}
		want := l.plans[[]string{basic, plus}[n%2]]
		if l.planOf(ctx, o) != want {
			t.recordLoss("%s has not the plan of the last change", o.email)
		}
	}
	return l.countBilled(ctx, t, meter, tenantOf)
}

// countBilled compares the acknowledged usage with the usage that was reported to the provider.
func (l *load) countBilled(ctx context.Context, t *tally, meter string, tenantOf map[string]string) error {
	now := clock.System().Now()
	for o, meters := range l.events {
		if len(meters[billed]) == 0 {
			continue
		}
		told := 0.0
		for customer, tenant := range tenantOf {
			if tenant != o.tenant {
				continue
			}
			start, end := now.Add(-2*time.Hour).Truncate(time.Minute).Unix(), now.Add(time.Hour).Truncate(time.Minute).Unix()
			sums, err := l.provider.list(ctx, "/v1/billing/meters/"+meter+"/event_summaries", url.Values{
				"customer": {customer}, "start_time": {strconv.FormatInt(start, 10)}, "end_time": {strconv.FormatInt(end, 10)},
			})
			if err != nil {
				return err
			}
			for _, s := range sums {
				told += s.Value
			}
		}
		if want := float64(len(meters[billed])); told > want {
			t.recordDouble("%v units of %s are billed for %v events", told, o.email, want)
		} else if told < want {
			t.recordLoss("%v units of %s are billed for %v events", told, o.email, want)
		}
	}
	return nil
}
