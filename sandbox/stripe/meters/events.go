package meters

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// The allowed range of an event's timestamp, relative to now.
const (
	maxUsageAge    = 35 * 24 * time.Hour
	maxUsageFuture = 5 * time.Minute
)

// identifierLife is how long a repeated identifier is refused: the minimum that Stripe guarantees.
const identifierLife = 24 * time.Hour

// event is reported usage. It is stored in its own table, because it is only read in sums.
type event struct {
	Object     string            `json:"object"`
	Created    int64             `json:"created"`
	EventName  string            `json:"event_name"`
	Identifier string            `json:"identifier"`
	Livemode   bool              `json:"livemode"`
	Payload    map[string]string `json:"payload"`
	Timestamp  int64             `json:"timestamp"`
}

// CreateEvent handles POST /v1/billing/meter_events.
func CreateEvent(ctx context.Context, c *kernel.Call) (any, error) {
	e := event{
		Object: "billing.meter_event", Created: c.Now, Timestamp: c.Now,
		Identifier: form.RandomText(32, form.Alphanumeric), Payload: map[string]string{},
	}
	p := c.Params
	p.Require("event_name", "payload")
	p.ReadShort("event_name", 100, &e.EventName)
	p.ReadShort("identifier", 100, &e.Identifier)
	p.Integer("timestamp", 0, 1<<40, &e.Timestamp)
	payload := p.Hash("payload")
	if payload == nil {
		p.ReadFilled("payload")
	} else {
		for _, key := range payload.Keys() {
			value, _ := payload.ReadFilled(key)
			if utf8.RuneCountInString(value) > 100 {
				payload.Fail(key, "", "Invalid string: %s must be at most 100 characters", payload.Name(key))
			}
			e.Payload[key] = value
		}
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	switch age := c.Now - e.Timestamp; {
	case age > int64(maxUsageAge/time.Second):
		return nil, form.Refuse("timestamp", "timestamp_too_far_in_past", "The timestamp must be within the past 35 days.")
	case -age > int64(maxUsageFuture/time.Second):
		return nil, form.Refuse("timestamp", "timestamp_in_future", "The timestamp must be no more than 5 minutes in the future.")
	}
	return e, addUsage(ctx, c.Step, e)
}

// addUsage stores the usage of an event's customer.
func addUsage(ctx context.Context, st *kernel.Step, e event) error {
	m, err := activeMeter(ctx, st, e.EventName)
	if errors.Is(err, kernel.ErrNotFound) {
		return form.Refuse("event_name", "no_meter", "No active meter found for the event name '%s'.", e.EventName)
	}
	if err != nil {
		return err
	}
	mapping := m.CustomerMapping.EventPayloadKey
	id, given := e.Payload[mapping]
	if !given {
		return form.Refuse("payload", "meter_event_no_customer_defined", "The payload must have the key '%s'.", mapping)
	}
	_, err = customers.FindLive(ctx, st, id, "payload["+mapping+"]")
	if missing, ok := errors.AsType[*form.Error](err); ok {
		return reportError(ctx, st, m, e, "meter_event_customer_not_found", missing.Message)
	}
	if err != nil {
		return err
	}
	value := "1"
	if m.DefaultAggregation.Formula != formulaCount {
		if value, err = m.value(e.Payload); err != nil {
			return err
		}
	}
	var known bool
	err = st.Q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM stripe_meter_events WHERE identifier = ? AND created > ?)`,
		e.Identifier, st.Now-int64(identifierLife/time.Second)).Scan(&known)
	if err != nil {
		return fmt.Errorf("find meter event: %w", err)
	}
	if known {
		return form.Refuse("", "", "An event already exists with identifier %s.", e.Identifier)
	}
	_, err = st.Q.ExecContext(ctx, `INSERT INTO stripe_meter_events (identifier, meter, customer, value, at, created) VALUES (?, ?, ?, ?, ?, ?)`,
		e.Identifier, m.ID, id, value, e.Timestamp, st.Now)
	if err != nil {
		return fmt.Errorf("store meter event: %w", err)
	}
	return nil
}

// reportError emits a report about an event that was accepted but cannot be counted. Stripe
// combines the errors of a few minutes in one report.
func reportError(ctx context.Context, st *kernel.Step, m *Meter, e event, code, message string) error {
	type object map[string]any
	now := time.Unix(st.Now, 0).UTC()
	return st.EmitThin(ctx, "v1.billing.meter.error_report_triggered",
		&kernel.RelatedObject{ID: m.ID, Type: All.Name, URL: All.Path + "/" + m.ID},
		object{
			"developer_message_summary": "There is 1 invalid event", "validation_start": now, "validation_end": now,
			"reason": object{"error_count": 1, "error_types": []object{{
				"code": code, "error_count": 1,
				"sample_errors": []object{{"error_message": message, "request": object{"identifier": e.Identifier}}},
			}}},
		})
}

// value returns the reported quantity. It has up to fifteen digits before the decimal point and up
// to twelve after it. A negative value corrects earlier reports.
func (m *Meter) value(payload map[string]string) (string, error) {
	key := m.ValueSettings.EventPayloadKey
	value, given := payload[key]
	if !given {
		return "", form.Refuse("payload", "meter_event_value_not_found", "The payload must have the key '%s'.", key)
	}
	whole, fraction, point := strings.Cut(strings.TrimPrefix(value, "-"), ".")
	if !form.Digits(whole) || len(whole) > 15 || point && (!form.Digits(fraction) || len(fraction) > 12) {
		return "", form.Refuse("payload["+key+"]", "meter_event_invalid_value", "The value %s must be a number with at most 15 digits and 12 decimal places.", strconv.Quote(value))
	}
	return value, nil
}

// Schema creates the table of reported usage.
const Schema = `
CREATE TABLE IF NOT EXISTS stripe_meter_events (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	identifier TEXT NOT NULL,
	meter      TEXT NOT NULL,
	customer   TEXT NOT NULL,
	value      TEXT NOT NULL,
	at         INTEGER NOT NULL,
	created    INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS stripe_meter_events_identifier ON stripe_meter_events (identifier, created);
CREATE INDEX IF NOT EXISTS stripe_meter_events_usage ON stripe_meter_events (meter, customer, at);
`
