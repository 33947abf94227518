package app

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
)

// bulletin is a fake tenant that records the alerts.
type bulletin struct {
	tenant  tenant.Tenant
	members []tenant.Member
	notes   []string
}

func (b *bulletin) Get(context.Context, uuid.UUID) (tenant.Tenant, error) { return b.tenant, nil }

func (b *bulletin) Members(context.Context, uuid.UUID) ([]tenant.Member, error) {
	return b.members, nil
}

func (b *bulletin) Locale(_ context.Context, t tenant.Tenant, otherwise string) (string, error) {
	for _, m := range b.members {
		if m.Role == tenant.BuiltInOwner {
			return t.LocaleFor(m.Locale, otherwise), nil
		}
	}
	return t.LocaleFor(nil, otherwise), nil
}

func (b *bulletin) QuotaAlert(_ context.Context, locale, to string, a letters.QuotaAlert) error {
	b.notes = append(b.notes, fmt.Sprintf("mail to %s in %s: %s %s %s/%d%s %d%% until %s",
		to, locale, a.Tenant, a.Meter, a.Current, a.Limit, a.Unit, a.Percent, a.PeriodEnd.Format(time.DateOnly)))
	return nil
}

func (b *bulletin) Notify(_ context.Context, userID int64, m push.Message) error {
	b.notes = append(b.notes, fmt.Sprintf("push to %d: %s: %s %s %s", userID, m.Title, m.Body, m.URL, m.Tag))
	return nil
}

func TestQuotaAlertRecipients(t *testing.T) {
	t.Parallel()
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	team := []tenant.Member{
		{UserID: 1, Email: "member@example.com", Role: "member"},
		{UserID: 2, Email: "admin@example.com", Role: "admin"},
		{UserID: 3, Email: "owner@example.com", Role: "owner"},
		{UserID: 4, Email: "clerk@example.com", Role: "clerk"},
	}
	billed := tenant.BillingDetails{BillingEmail: new("billing@example.com")}
	near := usage.Alert{
		Meter: usage.Meter{Code: "api-calls", Name: "API calls", UnitLabel: new("calls")}, MeterNames: map[string]string{"en": "API calls", "es": "Llamadas a la API", "fr": "Appels d’API"}, Threshold: 80, Current: money.Total{Units: 8, Millionths: 500_000}, Limit: 10,
		Period: usage.PeriodOf(usage.ResetMonthly, nil, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)),
	}
	reached := near
	reached.Threshold, reached.Period, reached.Meter.UnitLabel = 100, usage.PeriodOf(usage.ResetNever, nil, time.Time{}), nil
	tests := []struct {
		name   string
		tenant tenant.Tenant
		team   []tenant.Member
		alert  usage.Alert
		want   []string
	}{
		{
			"to the billing address",
			tenant.Tenant{Name: "Acme", Billing: billed},
			team, near,
			[]string{
				"push to 2: Usage alert: Acme has reached 80% of its usage limit for “API calls”. https://app.example.com/billing quota-api-calls",
				"push to 3: Usage alert: Acme has reached 80% of its usage limit for “API calls”. https://app.example.com/billing quota-api-calls",
				"mail to billing@example.com in en: Acme API calls 8.5/10calls 80% until 2026-12-01",
			},
		},
		{
			"to the owner, in the tenant's language",
			tenant.Tenant{Name: "Acme", Settings: sqldb.JSON(`{"locale":"IT","x":1}`)},
			team[2:3], reached,
			[]string{
				"push to 3: Avviso di utilizzo: Acme ha raggiunto il limite di utilizzo per «API calls». https://app.example.com/billing quota-api-calls",
				"mail to owner@example.com in it: Acme API calls 8.5/10 100% until 0001-01-01",
			},
		},
		{"an unknown language", tenant.Tenant{Name: "Acme", Settings: sqldb.JSON(`{"locale":7}`), Billing: billed}, nil, reached, []string{
			"mail to billing@example.com in en: Acme API calls 8.5/10 100% until 0001-01-01",
		}},
		{"each in their own language", tenant.Tenant{Name: "Acme"}, []tenant.Member{
			{UserID: 2, Email: "admin@example.com", Role: "admin", Locale: new("es")},
			{UserID: 5, Email: "second@example.com", Role: "admin"},
			{UserID: 3, Email: "owner@example.com", Role: "owner", Locale: new("fr")},
		}, reached, []string{
			"push to 2: Aviso de uso: Acme ha alcanzado su límite de uso de «Llamadas a la API». https://app.example.com/billing quota-api-calls",
			"push to 5: Alerte de consommation: Acme a atteint sa limite de consommation pour « Appels d’API ». https://app.example.com/billing quota-api-calls",
			"push to 3: Alerte de consommation: Acme a atteint sa limite de consommation pour « Appels d’API ». https://app.example.com/billing quota-api-calls",
			"mail to owner@example.com in fr: Acme Appels d’API 8.5/10 100% until 0001-01-01",
		}},
		{"no recipient", tenant.Tenant{Name: "Acme"}, team[:1], reached, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &bulletin{tenant: tt.tenant, members: tt.team}
			q := quotaAlerts{Tenants: b, Letters: b, Pushes: b, Messages: messages, BillingPage: "https://app.example.com/billing"}
			if err := q.QuotaAlert(t.Context(), tt.alert); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, b.notes); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
