package meters

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// All is the collection of meters.
var All = kernel.Kind[Meter]{Name: "billing.meter", Prefix: "mtr", Label: "billing meter", Path: "/v1/billing/meters"}

// The statuses of a meter.
const (
	StatusActive = "active"
	inactive     = "inactive"
)

// The aggregation formulas of a meter.
const (
	formulaSum   = "sum"
	formulaCount = "count"
	formulaLast  = "last"
)

// Meter aggregates the events with a name, by customer. Metered prices refer to it.
type Meter struct {
	kernel.Header
	CustomerMapping    customerMapping `json:"customer_mapping"`
	DefaultAggregation aggregation     `json:"default_aggregation"`
	DisplayName        string          `json:"display_name"`
	EventName          string          `json:"event_name"`
	EventTimeWindow    form.Null       `json:"event_time_window"`
	Status             string          `json:"status"`
	StatusTransitions  transitions     `json:"status_transitions"`
	Updated            int64           `json:"updated"`
	ValueSettings      valueSettings   `json:"value_settings"`
}

type customerMapping struct {
	EventPayloadKey string `json:"event_payload_key"`
	Type            string `json:"type"`
}

type aggregation struct {
	Formula string `json:"formula"`
}

type transitions struct {
	DeactivatedAt *int64 `json:"deactivated_at"`
}

type valueSettings struct {
	EventPayloadKey string `json:"event_payload_key"`
}

// Create handles POST /v1/billing/meters.
func Create(ctx context.Context, c *kernel.Call) (any, error) {
	m := Meter{
		Header: All.Start(c.Now), Status: StatusActive, Updated: c.Now,
		CustomerMapping: customerMapping{EventPayloadKey: "stripe_customer_id", Type: "by_id"},
		ValueSettings:   valueSettings{EventPayloadKey: "value"},
	}
	p := c.Params
	p.Require("default_aggregation", "display_name", "event_name")
	p.ReadShort("display_name", 250, &m.DisplayName)
	p.ReadShort("event_name", 100, &m.EventName)
	if given := p.Hash("default_aggregation"); given != nil {
		given.Require("formula")
		given.Choice("formula", &m.DefaultAggregation.Formula, formulaSum, formulaCount, formulaLast)
	}
	if given := p.Hash("customer_mapping"); given != nil {
		given.Require("event_payload_key", "type")
		given.Choice("type", &m.CustomerMapping.Type, "by_id")
		given.ReadShort("event_payload_key", 100, &m.CustomerMapping.EventPayloadKey)
	}
	if given := p.Hash("value_settings"); given != nil {
		given.Require("event_payload_key")
		given.ReadShort("event_payload_key", 100, &m.ValueSettings.EventPayloadKey)
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	if err := claimEventName(ctx, c.Step, m.EventName); err != nil {
		return nil, err
	}
	return m, c.Create(ctx, "billing.meter.created", m)
}

// claimEventName refuses an event name that another active meter uses.
func claimEventName(ctx context.Context, st *kernel.Step, name string) error {
	taken, err := activeMeter(ctx, st, name)
	if errors.Is(err, kernel.ErrNotFound) {
		return nil
	}
	if err == nil {
		return form.Refuse("event_name", "", "An active meter (%s) already has the event name '%s'.", taken.ID, name)
	}
	return err
}

// activeMeter returns the active meter for an event name. It returns kernel.ErrNotFound if the
// meter does not exist.
func activeMeter(ctx context.Context, st *kernel.Step, eventName string) (*Meter, error) {
	found, err := All.FindWhere(ctx, st.Q, `doc ->> '$.event_name' = ? AND doc ->> '$.status' = ?`, eventName, StatusActive)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, kernel.ErrNotFound
	}
	return found[0], nil
}

// Get handles GET /v1/billing/meters/{id}.
func Get(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, All)
}

// Update handles POST /v1/billing/meters/{id}.
func Update(ctx context.Context, c *kernel.Call) (any, error) {
	return changeMeter(ctx, c, "billing.meter.updated", func(m *Meter) error {
		c.Params.ReadShort("display_name", 250, &m.DisplayName)
		return c.Params.CheckUnread()
	})
}

// Deactivate handles POST /v1/billing/meters/{id}/deactivate.
func Deactivate(ctx context.Context, c *kernel.Call) (any, error) {
	return changeMeter(ctx, c, "billing.meter.deactivated", func(m *Meter) error {
		if err := c.Params.CheckUnread(); err != nil {
			return err
		}
		if m.Status != StatusActive {
			return form.Refuse("", "", "The meter %s is not active.", m.ID)
		}
		now := c.Now
		m.Status, m.StatusTransitions.DeactivatedAt = inactive, &now
		return nil
	})
}

// Reactivate handles POST /v1/billing/meters/{id}/reactivate.
func Reactivate(ctx context.Context, c *kernel.Call) (any, error) {
	return changeMeter(ctx, c, "billing.meter.reactivated", func(m *Meter) error {
		if err := c.Params.CheckUnread(); err != nil {
			return err
		}
		if m.Status == StatusActive {
			return form.Refuse("", "", "The meter %s is already active.", m.ID)
		}
		m.Status, m.StatusTransitions.DeactivatedAt = StatusActive, nil
		return claimEventName(ctx, c.Step, m.EventName)
	})
}

// changeMeter applies a change to the meter in the request's path, stores the meter and emits an
// event.
func changeMeter(ctx context.Context, c *kernel.Call, event string, change func(*Meter) error) (any, error) {
	m, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *m
	if err := change(m); err != nil {
		return nil, err
	}
	if m.DisplayName != before.DisplayName || m.Status != before.Status {
		m.Updated = c.Now
	}
	return m, c.Change(ctx, event, before, m)
}

// List handles GET /v1/billing/meters.
func List(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	if c.Params.Has("status") {
		var status string
		c.Params.Choice("status", &status, StatusActive, inactive)
		f.AddCondition(`doc ->> '$.status' = ?`, status)
	}
	return All.Page(ctx, c, f)
}
