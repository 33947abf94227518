package usage

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// JobAlert is the kind of the jobs that tell people of one alert.
const JobAlert = "usage.alert"

// Alert says that Threshold percent of a quota are used.
type Alert struct {
	ID         uuid.UUID
	TenantID   uuid.UUID
	Meter      Meter
	MeterNames map[string]string // by locale; set when the alert is sent
	Period     Period
	Threshold  int         // 80 or 100
	Current    money.Total // the usage after the event that raised the alert
	Limit      int64       // in whole units
}

// quotaNotifier sends alerts to people.
type quotaNotifier interface {
	// QuotaAlert is called in a transaction and writes to outboxes in it; it sends
	// nothing before the commit.
	QuotaAlert(ctx context.Context, a Alert) error
}

// jobQueue takes work for later; *jobs.Queue does.
type jobQueue interface {
	Handle(kind string, h jobs.Handler)
	Enqueue(ctx context.Context, kind string, payload any, opts ...jobs.Option) error
}

// threshold is the percentage that an alert about the status names; 0 where there is
// no alert.
func (s Status) threshold() int {
	switch s {
	case QuotaWarning:
		return 80
	case QuotaExceeded:
		return 100
	default:
		return 0
	}
}

// alarm finds the alerts that a batch raises and stores them in its transaction.
//
// Invariant: for a tenant, a meter, a period, a limit and a threshold there is at most one
// alert ever, so another limit arms the alerts again. The events of a stream are counted one after the other under its lock
// and each is looked at by itself. Two events that reach 80 and 100 percent raise both
// alerts, in one batch or in two; one event that reaches 100 percent from below 80
// raises that alert alone. Usage of the past that is recorded late raises none: only
// the period that contains now is looked at.
type alarm struct {
	store  store
	jobs   jobQueue
	known  *knownAlerts
	events hook.Outbox // nil tells nobody
}

// nextAlert is called after an event of the stream was counted. It returns the alert
// that may have to be raised, and reports whether there is one.
func (s *stream) nextAlert(e *entry, now time.Time) (Alert, bool) {
	limit := s.allowance.limit(s.meter.Code)
	if s.meter.Enforcement == EnforcementUnenforced || limit == nil || !e.period.Contains(now) {
		return Alert{}, false
	}
	c, current := find(s.counters, e.period), s.current(e, s.counters).Value
	threshold := statusOf(current, limit).threshold()
	if threshold <= c.alerted {
		return Alert{}, false
	}
	c.alerted = threshold
	return Alert{
		TenantID: s.key.TenantID, Meter: s.meter, Period: e.period,
		Threshold: threshold, Current: current, Limit: *limit,
	}, true
}

// publish hands an alert that was just raised to the outbox, and where the quota is soft to the
// job that mails it: at a hard one people see the refusals.
func (a *alarm) publish(ctx context.Context, one Alert) error {
	event := hook.QuotaWarning
	if one.Threshold >= 100 {
		event = hook.QuotaReached
	}
	row := quotaOf(Reading{Meter: one.Meter, Period: one.Period, Current: one.Current, Limit: &one.Limit})
	if err := hook.Publish(ctx, a.events, event, one.TenantID, hook.StaticData(row)); err != nil || one.Meter.Enforcement != EnforcementSoft {
		return err
	}
	return a.jobs.Enqueue(ctx, JobAlert, one.ID)
}

// raiseAlerts stores the alerts that were not raised before, and tells of each.
func (a *alarm) raiseAlerts(ctx context.Context, alerts []Alert, now time.Time) error {
	for _, one := range alerts {
		if a.known.has(one) {
			continue
		}
		one.ID = sqldb.NewID()
		raised, err := a.store.raiseAlert(ctx, one, now)
		if err != nil {
			return err
		}
		if raised {
			if err := a.publish(ctx, one); err != nil {
				return err
			}
		}
		a.store.db.AfterCommit(ctx, func() { a.known.add(one) })
	}
	return nil
}

// knownAlerts caches which alerts are stored, so that events beyond a threshold need
// no query each. Alerts are never deleted, so the cache cannot become wrong, and
// forgetting an entry costs one query.
type knownAlerts struct {
	mu     sync.Mutex
	raised map[alertKey]int // the highest threshold, in percent
}

type alertKey struct {
	StreamKey
	start, end, limit int64
}

// maxKnownAlerts bounds the size of the cache, which is emptied when it is full.
const maxKnownAlerts = 10_000

func (a Alert) key() alertKey {
	return alertKey{StreamKey{TenantID: a.TenantID, MeterID: a.Meter.ID}, a.Period.Start.UnixMicro(), a.Period.End.UnixMicro(), a.Limit}
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

// HandleAlert is the handler of JobAlert: it queues the mail and the push messages of
// an alert, once.
func (s *Service) HandleAlert(ctx context.Context, job jobs.Job) error {
	var id uuid.UUID
	if err := job.Decode(&id); err != nil {
		return err
	}
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		alert, err := s.store.unsentAlert(ctx, id)
		if errors.Is(err, errAlertSent) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.alerts.QuotaAlert(ctx, alert); err != nil {
			return err
		}
		return s.store.markAlertSent(ctx, alert, s.clock.Now())
	})
}
