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
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// JobAlert is the kind of job that sends one alert.
const JobAlert = "usage.alert"

// Alert reports that usage has reached Threshold percent of a quota.
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

// quotaNotifier sends alerts to the members of a tenant.
type quotaNotifier interface {
	// QuotaAlert is called in a transaction. It must only write to outboxes; nothing is sent before
	// the commit.
	QuotaAlert(ctx context.Context, a Alert) error
}

// jobQueue enqueues background jobs. *jobs.Queue implements it.
type jobQueue interface {
	Handle(kind string, h jobs.Handler)
	Enqueue(ctx context.Context, kind string, payload any, opts ...jobs.Option) error
}

// threshold returns the percentage that an alert for this status reports, or 0 if the status raises
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

// alarm determines the alerts that a batch raises and stores them in its transaction.
//
// Invariant: each combination of tenant, meter, period, limit and threshold raises at most one
// alert, so a changed limit can raise alerts again. The events of a stream are counted one at a
// time under its lock, and each event is checked separately. Two events that reach 80 and 100
// percent raise both alerts, whether they are in the same batch or not. A single event that raises
// usage from below 80 to 100 percent raises only the alert for 100 percent. Events recorded late
// for a past period raise no alerts: only the period that contains now is checked.
type alarm struct {
	store  store
	jobs   jobQueue
	known  *knownAlerts
	events hook.Outbox // nil: no events are published
	// reading returns the current usage of a tenant on a meter.
	reading func(ctx context.Context, tenantID uuid.UUID, m Meter) (Reading, error)
}

// alertThresholds are the percentages of a limit that raise alerts.
var alertThresholds = [...]int{80, 100}

// raisedAlert is a stored alert.
type raisedAlert struct {
	period    Period
	threshold int
	limit     int64
	at        time.Time
}

// alertsOf returns an alert for each threshold of a reading's limit. If the alert was raised in the
// reading's period, it has the time at which it was raised.
func alertsOf(r Reading, raised []raisedAlert) []quotaAlert {
	alerts := []quotaAlert{}
	if r.Limit == nil {
		return alerts
	}
	for _, threshold := range alertThresholds {
		alert := quotaAlert{Percent: threshold}
		for _, a := range raised {
			if a.threshold == threshold && a.limit == *r.Limit && a.period.Equal(r.Period) {
				alert.SentAt = shape.TP(&a.at)
			}
		}
		alerts = append(alerts, alert)
	}
	return alerts
}

// nextAlert is called after an event of the stream was counted. It returns the alert to raise and
// true, or false if no new alert is due.
func (s *stream) nextAlert(e *entry, now time.Time) (Alert, bool) {
	limit := s.allowance.limit(s.meter.Code)
	if s.meter.Enforcement == EnforcementUnenforced || limit == nil || !e.period.Contains(now) {
		return Alert{}, false
	}
	c, current := find(s.counters, e.period), s.currentValue(e, s.counters).Value
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

// publish publishes the event for a new alert. For a soft quota it also enqueues the job that mails
// the alert. Hard quotas need no mail, because members notice the rejected requests.
func (a *alarm) publish(ctx context.Context, one Alert) error {
	event := hook.QuotaWarning
	if one.Threshold >= 100 {
		event = hook.QuotaReached
	}
	data := func(ctx context.Context) (any, error) {
		r, err := a.reading(ctx, one.TenantID, one.Meter)
		if err != nil {
			return nil, err
		}
		r.Current = one.Current // the batch can have more events
		by, err := a.store.capAuthor(ctx, one.TenantID, r)
		return quotaOf(r, by.Author(false)), err
	}
	if err := hook.Publish(ctx, a.events, event, one.TenantID, data); err != nil || one.Meter.Enforcement != EnforcementSoft {
		return err
	}
	return a.jobs.Enqueue(ctx, JobAlert, one.ID)
}

// raiseAlerts stores the alerts that were not raised before and publishes each new one.
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

// knownAlerts caches the stored alerts, so that events above a threshold do not need a query each.
// Alerts are never deleted, so the cache cannot become stale. A missing entry only costs one query.
type knownAlerts struct {
	mu     sync.Mutex
	raised map[alertKey]int // the highest threshold, in percent
}

type alertKey struct {
	StreamKey
	start, end, limit int64
}

// maxKnownAlerts limits the size of the cache. A full cache is cleared.
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

// HandleAlert handles a JobAlert job. It queues the email and the push messages of an alert,
// exactly once.
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
