package webhook

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/tenant"
)

const (
	// disableAfter is how long an endpoint can fail before it is disabled, counted from the first
	// failure since the last success.
	disableAfter = 5 * 24 * time.Hour
	// maxRecords is the maximum number of results stored in one transaction.
	maxRecords = 256
	// recordTimeout limits the duration of that transaction.
	recordTimeout = 10 * time.Second
)

// recordResults stores results in batches until the channel is closed.
func (s *Service) recordResults(ctx context.Context, results <-chan result) {
	for first := range results {
		batch := []result{first}
	collect:
		for len(batch) < maxRecords {
			select {
			case r, more := <-results:
				if !more {
					break collect
				}
				batch = append(batch, r)
			default:
				break collect
			}
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		if err := s.recordAll(within, batch); err != nil {
			s.deps.Log.ErrorContext(ctx, "failed to record webhook deliveries; they will be sent again", "error", err)
		}
		cancel()
	}
}

// recordAll stores results in one transaction.
//
// Invariant: the endpoints are locked first, in the order of their IDs, so their current state
// applies. A pending delivery becomes failed if its endpoint has been disabled. Results for deleted
// endpoints are dropped. A result counts only while its lease is valid.
func (s *Service) recordAll(ctx context.Context, batch []result) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		known, err := s.store.lockAll(ctx, batch)
		if err != nil {
			return err
		}
		outcomes := make([]outcome, 0, len(batch))
		for _, r := range batch {
			e, ok := known[r.endpoint.ID]
			if !ok {
				continue
			}
			outcomes = append(outcomes, outcomeOf(r, e.Enabled))
		}
		if len(outcomes) == 0 {
			return nil
		}
		recorded, err := s.store.recordOutcomes(ctx, outcomes)
		if err != nil {
			return err
		}
		if err := s.store.insertExchanges(ctx, outcomes, recorded); err != nil {
			return err
		}
		outcomes = slices.DeleteFunc(outcomes, func(o outcome) bool { return !slices.Contains(recorded, o.delivery) })
		if err := s.store.noteFailures(ctx, outcomes, s.deps.Clock.Now()); err != nil {
			return err
		}
		for _, h := range collectHealth(batch, known, recorded) {
			if err := s.recordHealth(ctx, h); err != nil {
				return err
			}
		}
		return nil
	})
}

// collectHealth returns the effect of the recorded results of a batch on each endpoint.
func collectHealth(batch []result, known map[uuid.UUID]Endpoint, recorded []uuid.UUID) map[uuid.UUID]*health {
	changes := map[uuid.UUID]*health{}
	for _, r := range batch {
		e, ok := known[r.endpoint.ID]
		if !ok || !slices.Contains(recorded, r.delivery) {
			continue
		}
		if changes[e.ID] == nil {
			changes[e.ID] = &health{Endpoint: e}
		}
		changes[e.ID].recordResult(r)
	}
	return changes
}

// outcome is the stored form of a result.
type outcome struct {
	delivery, lease uuid.UUID
	status          string
	attempt         int
	attempts        []Attempt
	exchange        *exchange // nil if no request was made
	nextAttempt     *time.Time
}

func outcomeOf(r result, enabled bool) outcome {
	o := outcome{delivery: r.delivery, lease: r.lease, status: pending, attempt: r.task.attempt, attempts: r.attempts}
	switch {
	case r.interrupted && enabled:
		o.nextAttempt = &r.attempt.At // immediately, by any instance
		return o
	case r.made && !r.interrupted:
		o.attempt++
		o.attempts = append(o.attempts, r.attempt)
		o.attempts = o.attempts[max(0, len(o.attempts)-maxAttempts):]
		o.exchange = r.exchange
		o.nextAttempt = r.nextAttempt()
	}
	switch {
	case r.isOK():
		o.status = delivered
	case o.nextAttempt == nil, !enabled:
		o.status, o.nextAttempt = failed, nil
	}
	return o
}

// health collects the effect of a batch on an endpoint.
type health struct {
	Endpoint
	delivered *time.Time // the last success in the batch
	isGone    bool
	noted     bool
}

func (h *health) recordResult(r result) {
	switch at := r.attempt.At; {
	case !r.made || r.interrupted:
	case r.isOK():
		if h.delivered == nil || at.After(*h.delivered) {
			h.delivered = &at
		}
		h.failingSince, h.noted = nil, true
	default:
		h.isGone = h.isGone || r.isGone()
		if h.failingSince == nil {
			h.failingSince, h.noted = &at, true
		}
	}
}

// recordHealth stores the effect of a batch on a locked endpoint, and disables the endpoint if
// necessary.
func (s *Service) recordHealth(ctx context.Context, h *health) error {
	if h.noted {
		if err := s.store.noteHealth(ctx, h.ID, h.delivered, h.failingSince); err != nil {
			return err
		}
	}
	switch {
	case !h.Enabled:
		return nil
	case h.isGone:
		return s.disable(ctx, h.Endpoint, reasonGone)
	case h.failingSince != nil && !h.failingSince.After(s.deps.Clock.Now().Add(-disableAfter)):
		return s.disable(ctx, h.Endpoint, reasonFailing)
	}
	return nil
}

// DisableFailing is a periodic job. It disables endpoints that have failed for too long and have no
// attempt left. Endpoints with attempts left are disabled by their next failure.
func (s *Service) DisableFailing(ctx context.Context) error {
	ids, err := s.store.listFailing(ctx, s.deps.Clock.Now().Add(-disableAfter))
	if err != nil {
		return err
	}
	for _, id := range ids {
		failed := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			known, err := s.store.lockAll(ctx, []result{{task: task{endpoint: Endpoint{ID: id}}}})
			e, ok := known[id]
			if err != nil || !ok {
				return err
			}
			return s.recordHealth(ctx, &health{Endpoint: e})
		})
		err = errors.Join(err, failed) // the other endpoints are still disabled
	}
	return err
}

// disable disables a locked, enabled endpoint and fails its pending deliveries. It mails the owner
// unless the endpoint itself asked to be disabled.
func (s *Service) disable(ctx context.Context, e Endpoint, reason string) error {
	if err := s.store.disable(ctx, e.ID, reason); err != nil {
		return err
	}
	if err := s.store.failPending(ctx, e.ID); err != nil {
		return err
	}
	before := auditFields(e)
	e.Enabled, e.DisabledReason = false, &reason
	if err := s.record(ctx, "disabled", e, before, auditFields(e)); err != nil {
		return err
	}
	s.deps.DB.AfterCommit(ctx, func() {
		s.deps.Log.WarnContext(ctx, "webhook endpoint disabled", "endpoint", e.ID, "tenant_id", e.TenantID, "reason", reason)
	})
	if reason != reasonFailing || e.TenantID == nil {
		return nil
	}
	return s.mailOwner(ctx, e)
}

// mailOwner mails the owner of the tenant that an endpoint was disabled.
func (s *Service) mailOwner(ctx context.Context, e Endpoint) error {
	t, err := s.deps.Tenants.Get(ctx, *e.TenantID)
	if err != nil {
		return err
	}
	members, err := s.deps.Tenants.Members(ctx, t.ID)
	if err != nil {
		return err
	}
	locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Role == tenant.BuiltInOwner {
			return s.deps.Letters.WebhookDisabled(ctx, locale, m.Email, letters.WebhookDisabled{Tenant: t.Name, URL: e.URL, Since: *e.failingSince})
		}
	}
	return nil
}
