package usage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// jobAlert is the job that tells people of one alert.
const jobAlert = "usage.alert"

// Alert says that a soft quota is used to Threshold percent.
type Alert struct {
	ID        uuid.UUID
	TenantID  uuid.UUID
	Meter     Meter
	Period    Period
	Threshold int            // 80 or 100
	Current   money.Quantity // what the event that raised the alert came to
	Limit     int64          // in whole units
}

// Notifier tells people of alerts.
type Notifier interface {
	// QuotaAlert is called in a transaction and writes to outboxes in it; it
	// sends nothing itself.
	QuotaAlert(ctx context.Context, a Alert) error
}

// Jobs takes work for later; *jobs.Queue does.
type Jobs interface {
	Handle(kind string, h jobs.Handler)
	Enqueue(ctx context.Context, kind string, payload any, opts ...jobs.Option) error
}

// threshold is what an alert about a status is for, in percent; 0 for none.
func (s Status) threshold() int {
	switch s {
	case Warning:
		return 80
	case Exceeded:
		return 100
	default:
		return 0
	}
}

// alarm finds the alerts that a batch raises and raises them in its transaction.
//
// What holds: of a tenant, a meter, a period and a threshold there is at most one
// alert ever. The events of a stream are counted one after the other under its
// lock, each is looked at by itself, so that two events that reach 80 and 100
// percent raise both alerts in whatever batch they are, while one event that
// reaches 100 from below 80 raises that alone. Only the period that contains now
// is looked at: nobody is told about usage of the past that is recorded late.
type alarm struct {
	store store
	jobs  Jobs
	known *knownAlerts
}

// observe looks at a stream after one of its events was counted and returns the
// alert that may have to be raised, if any.
func (s *stream) observe(e *entry, now time.Time) (Alert, bool) {
	limit := s.allowance.limit(s.meter.Code)
	if s.meter.Enforcement != Soft || limit == nil || !e.period.Contains(now) {
		return Alert{}, false
	}
	c := find(s.counters, e.period)
	threshold := statusOf(c.value, limit).threshold()
	if threshold <= c.alerted {
		return Alert{}, false
	}
	c.alerted = threshold
	return Alert{
		TenantID: s.key.tenantID, Meter: s.meter, Period: e.period,
		Threshold: threshold, Current: c.value, Limit: *limit,
	}, true
}

// raise stores those of the alerts that were not raised before, each with the job
// that sends it.
func (a *alarm) raise(ctx context.Context, alerts []Alert, now time.Time) error {
	for _, one := range alerts {
		if a.known.has(one) {
			continue
		}
		one.ID = sqldb.NewID()
		raised, err := a.store.q(ctx).RaiseAlert(ctx, usagesql.RaiseAlertParams{
			ID: one.ID, TenantID: one.TenantID, MeterID: one.Meter.ID, PeriodStart: one.Period.Start, PeriodEnd: one.Period.End,
			Threshold: int32(one.Threshold), Value: int64(one.Current), Quota: one.Limit, CreatedAt: now,
		})
		if err != nil {
			return fmt.Errorf("usage: raise alert: %w", err)
		}
		if raised > 0 {
			if err := a.jobs.Enqueue(ctx, jobAlert, one.ID); err != nil {
				return err
			}
		}
		a.store.db.AfterCommit(ctx, func() { a.known.add(one) })
	}
	return nil
}

// knownAlerts remembers alerts that are stored, so that usage beyond a threshold
// does not ask the database again with every event. Alerts are never deleted, so
// what is known stays true; what was forgotten is only asked for again.
type knownAlerts struct {
	mu     sync.Mutex
	raised map[alertKey]int // to the highest threshold
}

type alertKey struct {
	streamKey
	start, end int64
}

// maxKnownAlerts bounds the memory.
const maxKnownAlerts = 10_000

func (a Alert) key() alertKey {
	return alertKey{streamKey{a.TenantID, a.Meter.ID}, a.Period.Start.UnixMicro(), a.Period.End.UnixMicro()}
}

func (k *knownAlerts) has(a Alert) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.raised[a.key()] >= a.Threshold
}

func (k *knownAlerts) add(a Alert) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.raised == nil || len(k.raised) >= maxKnownAlerts {
		k.raised = map[alertKey]int{}
	}
	k.raised[a.key()] = max(k.raised[a.key()], a.Threshold)
}

// sendAlert hands an alert over to the outboxes of mail and push messages, once.
func (s *Service) sendAlert(ctx context.Context, job jobs.Job) error {
	var id uuid.UUID
	if err := job.Decode(&id); err != nil {
		return err
	}
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		row, err := s.store.q(ctx).UnsentAlert(ctx, id)
		if errors.Is(err, sqldb.ErrNoRows) {
			return nil // sent already
		}
		if err != nil {
			return fmt.Errorf("usage: alert: %w", err)
		}
		a := row.UsageAlert
		err = s.alerts.QuotaAlert(ctx, Alert{
			ID: a.ID, TenantID: a.TenantID, Meter: meterOf(row.Meter), Period: Period{a.PeriodStart, a.PeriodEnd},
			Threshold: int(a.Threshold), Current: money.Quantity(a.Value), Limit: a.Quota,
		})
		if err != nil {
			return err
		}
		return s.store.q(ctx).MarkAlertSent(ctx, usagesql.MarkAlertSentParams{ID: id, Now: new(s.clock.Now())})
	})
}
