package timeline

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/timeline/timelinesql"
)

func (s store) payments(ctx context.Context, tenant *uuid.UUID, at time.Time, below key, most int32) ([]entry, error) {
	var rows []timelinesql.PaymentsBeforeRow
	var err error
	if tenant == nil {
		rows, err = s.q(ctx).PaymentsBefore(ctx, timelinesql.PaymentsBeforeParams{At: at, ID: below.number, Most: most})
	} else {
		var own []timelinesql.PaymentsOfTenantBeforeRow
		own, err = s.q(ctx).PaymentsOfTenantBefore(ctx, timelinesql.PaymentsOfTenantBeforeParams{TenantID: *tenant, At: at, ID: below.number, Most: most})
		for _, r := range own {
			rows = append(rows, timelinesql.PaymentsBeforeRow(r))
		}
	}
	found := make([]entry, len(rows))
	for i, r := range rows {
		paid := PaymentFacts{
			Invoice: r.InvoiceID, Number: r.Number, Currency: r.Currency, Amount: r.AmountCents, DeclineCode: r.DeclineCode,
			NextAttemptAt: shape.TP(r.NextAttemptAt),
		}
		if r.OwnNumber != nil {
			paid.Number = r.OwnNumber
		}
		found[i] = entry{cursor: cursor{at: r.HappenedAt, id: key{number: r.ID}}, action: r.Type, tenant: &r.TenantID, facts: facts{Payment: &paid}}
	}
	return found, err
}

func (s store) alerts(ctx context.Context, tenant *uuid.UUID, at time.Time, below key, most int32) ([]entry, error) {
	var rows []timelinesql.AlertsBeforeRow
	var err error
	if tenant == nil {
		rows, err = s.q(ctx).AlertsBefore(ctx, timelinesql.AlertsBeforeParams{At: at, ID: below.uuid, Most: most})
	} else {
		var own []timelinesql.AlertsOfTenantBeforeRow
		own, err = s.q(ctx).AlertsOfTenantBefore(ctx, timelinesql.AlertsOfTenantBeforeParams{TenantID: *tenant, At: at, ID: below.uuid, Most: most})
		for _, r := range own {
			rows = append(rows, timelinesql.AlertsBeforeRow(r))
		}
	}
	found := make([]entry, len(rows))
	for i, r := range rows {
		limit, used := strconv.FormatInt(r.Quota, 10), money.NewTotal(r.Units, r.Millionths).String()
		found[i] = entry{cursor: cursor{at: r.CreatedAt, id: key{uuid: r.ID}}, action: "usage.alert", tenant: &r.TenantID, facts: facts{Usage: &UsageFacts{
			Meter: r.Code, MeterName: r.Name, Limit: &limit, Used: &used, Threshold: &r.Threshold,
		}}}
	}
	return found, err
}

// refusals reads the rejected events of hours that began before at, or began at that time and have
// a key below the given one. The platform-wide index sorts the tenants of an hour, and each tenant
// has few meters.
func (s store) refusals(ctx context.Context, tenant *uuid.UUID, at time.Time, below key, most int32) ([]entry, error) {
	hour := hourOf(at)
	if !startOf(hour).Equal(at) {
		below = highest // the hour began before at
	}
	var rows []timelinesql.RefusalsBeforeRow
	var err error
	if tenant == nil {
		rows, err = s.q(ctx).RefusalsBefore(ctx, timelinesql.RefusalsBeforeParams{Hour: hour, TenantID: below.uuid, MeterID: below.meter, Most: most})
	} else {
		meter := below.meter
		switch bytes.Compare(tenant[:], below.uuid[:]) {
		case -1:
			meter = uuid.Max // all meters of the tenant in this hour follow
		case 1:
			meter = uuid.Nil // no meter of the tenant in this hour follows
		}
		var own []timelinesql.RefusalsOfTenantBeforeRow
		own, err = s.q(ctx).RefusalsOfTenantBefore(ctx, timelinesql.RefusalsOfTenantBeforeParams{TenantID: *tenant, Hour: hour, MeterID: meter, Most: most})
		for _, r := range own {
			rows = append(rows, timelinesql.RefusalsBeforeRow(r))
		}
	}
	found := make([]entry, len(rows))
	for i, r := range rows {
		found[i] = entry{
			cursor: cursor{at: startOf(r.Hour), id: key{number: r.Hour, uuid: r.TenantID, meter: r.MeterID}}, action: "usage.refused", tenant: &r.TenantID,
			facts: facts{Usage: &UsageFacts{Meter: r.Code, MeterName: r.Name, Refused: &r.Refused}},
		}
	}
	return found, err
}

func (s store) webhookFailures(ctx context.Context, tenant *uuid.UUID, at time.Time, below key, most int32) ([]entry, error) {
	var rows []timelinesql.WebhookFailuresBeforeRow
	var err error
	if tenant == nil {
		rows, err = s.q(ctx).WebhookFailuresBefore(ctx, timelinesql.WebhookFailuresBeforeParams{At: at, ID: below.uuid, Most: most})
	} else {
		var own []timelinesql.WebhookFailuresOfTenantBeforeRow
		own, err = s.q(ctx).WebhookFailuresOfTenantBefore(ctx, timelinesql.WebhookFailuresOfTenantBeforeParams{TenantID: *tenant, At: at, ID: below.uuid, Most: most})
		for _, r := range own {
			rows = append(rows, timelinesql.WebhookFailuresBeforeRow(r))
		}
	}
	found := make([]entry, len(rows))
	for i, r := range rows {
		found[i] = entry{cursor: cursor{at: r.FailedAt, id: key{uuid: r.DeliveryID}}, action: "webhook.failed", tenant: r.TenantID, facts: facts{Webhook: &WebhookFacts{
			Endpoint: r.EndpointID, URL: safehttp.Redact(r.URL), EventType: r.Type, Status: r.Status, Attempts: r.Attempts,
		}}}
	}
	return found, err
}
