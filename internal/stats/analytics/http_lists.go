package analytics

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

func viewRatio(q *money.Quantity) *shape.Quantity {
	if q == nil {
		return nil
	}
	return &shape.Quantity{Quantity: *q}
}

// monthRow is the row of a month in the file.
type monthRow struct {
	Month                string      `json:"month"`
	Opening              money.Money `json:"opening"`
	New                  money.Money `json:"new"`
	Expansion            money.Money `json:"expansion"`
	Contraction          money.Money `json:"contraction"`
	Churn                money.Money `json:"churn"`
	Reactivation         money.Money `json:"reactivation"`
	Exchange             money.Money `json:"exchange"`
	Closing              money.Money `json:"closing"`
	CustomersOpening     int64       `json:"customers_opening"`
	CustomersNew         int64       `json:"customers_new"`
	CustomersChurned     int64       `json:"customers_churned"`
	CustomersReactivated int64       `json:"customers_reactivated"`
	CustomersClosing     int64       `json:"customers_closing"`
	TrialsEnded          int64       `json:"trials_ended"`
	TrialsConverted      int64       `json:"trials_converted"`
}

func monthRows(figures []Figures, list []window, currency *string) []monthRow {
	rows := make([]monthRow, len(figures))
	of := moneyIn(currency)
	for i, f := range figures {
		rows[i] = monthRow{
			list[i].month(), of(f.Opening), of(f.New), of(f.Expansion), of(f.Contraction), of(f.Churn), of(f.Reactivation), of(f.Exchange),
			of(f.Closing), f.CustomersOpening, f.CustomersNew, f.CustomersChurned, f.CustomersReactivated, f.CustomersClosing,
			f.TrialsEnded, f.TrialsConverted,
		}
	}
	return rows
}

// moneyIn returns a function that converts minor units of a currency to money.
func moneyIn(currency *string) func(int64) money.Money {
	code := ""
	if currency != nil {
		code = *currency
	}
	return func(cents int64) money.Money { return money.Money{AmountCents: cents, Currency: code} }
}

// MovementList returns the parameters of the list of movements.
func MovementList() page.Spec { return page.Spec{CSV: true, Tiebreak: "customer"} }

type movementsInput struct {
	Month string `query:"month" required:"true" doc:"Month, such as 2026-01."`
	Kind  Kind   `query:"kind" required:"true" enum:"new,expansion,contraction,churn,reactivation" doc:"Kind of the movement."`
	filters
}

// RevenueMovement is the change of a customer's revenue in a month.
type RevenueMovement struct {
	Tenant MovementTenant `json:"tenant"`
	Before money.Money    `json:"before" doc:"Revenue at the beginning of the month, at the exchange rates of its end."`
	After  money.Money    `json:"after" doc:"Revenue at the end of the month."`
	Change money.Money    `json:"change" doc:"after minus before."`
}

// MovementTenant is the tenant of a movement.
type MovementTenant struct {
	ID   *uuid.UUID `json:"id" format:"uuid" doc:"ID of the tenant. Null once the tenant is purged."`
	Name *string    `json:"name" doc:"Name of the tenant. Null once the tenant is purged."`
}

// Movements handles GET /admin/analytics/movements.
func (h *HTTP) Movements(ctx context.Context, in *movementsInput) (*rest.Body[page.Page[RevenueMovement]], error) {
	q, err := MovementList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	month, err := parseMonth("month", in.Month)
	if err != nil {
		return nil, err
	}
	now := h.svc.deps.Clock.Now()
	if month.After(startOf(now)) {
		return nil, errMonthFuture
	}
	w := windows(month, month, now)[0]
	sel, err := h.svc.load(ctx, in.Plan, in.Currency, w)
	if err != nil {
		return nil, err
	}
	list := sel.history.convertible(sel.rates).movements(sel.rates, w, in.Kind)
	sortMovements(list)
	asked, bom := q.CSV()
	from, to := q.Window(len(list))
	if asked {
		from, to = 0, len(list)
	}
	views, err := h.viewMovements(ctx, list[from:to], sel.currency)
	if err != nil {
		return nil, err
	}
	if asked {
		return new(rest.Body[page.Page[RevenueMovement]]).ReplaceWith(sheet.FromSlice(ctx, "movements", h.svc.deps.Rates.Decimals, views, bom)), nil
	}
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/admin/analytics/movements", views, int64(len(list)))), nil
}

func (h *HTTP) viewMovements(ctx context.Context, list []Movement, currency *string) ([]RevenueMovement, error) {
	ids := make([]uuid.UUID, len(list))
	for i, m := range list {
		ids[i] = m.Subscription
	}
	tenants, err := h.svc.store.tenantsOf(ctx, ids)
	of := moneyIn(currency)
	views := make([]RevenueMovement, len(list))
	for i, m := range list {
		t := tenants[m.Subscription]
		views[i] = RevenueMovement{MovementTenant{t.id, t.name}, of(m.Before), of(m.After), of(m.After - m.Before)}
	}
	return views, err
}

// Measure is the measure of cohorts.
type Measure string

// Measures.
const (
	MeasureCustomers Measure = "customers"
	MeasureRevenue   Measure = "revenue"
)

type cohortsInput struct {
	Months  int     `query:"months" minimum:"1" maximum:"36" default:"12" doc:"Number of months, including the current one."`
	Measure Measure `query:"measure" enum:"customers,revenue" default:"customers" doc:"Whether values are shares of customers or of revenue."`
	filters
	fileFormat
}

// Cohort is the customers who made their first payment for a subscription in a month.
type Cohort struct {
	Month     string            `json:"month" doc:"Month, such as 2026-01."`
	Customers int64             `json:"customers" doc:"Number of customers."`
	Values    []*shape.Quantity `json:"values" doc:"Share that remains at the end of the month and of each later month. Null without revenue in the first month."`
}

// CohortList is the response of Cohorts.
type CohortList struct {
	Data []Cohort `json:"data" doc:"Cohorts, oldest first."`
}

// Cohorts handles GET /admin/analytics/cohorts.
func (h *HTTP) Cohorts(ctx context.Context, in *cohortsInput) (*rest.Body[CohortList], error) {
	if err := refuseUnknown(ctx); err != nil {
		return nil, err
	}
	now := h.svc.deps.Clock.Now()
	list := windows(startOf(now).AddDate(0, 1-in.Months, 0), startOf(now), now)
	sel, err := h.svc.load(ctx, in.Plan, in.Currency, window{list[0].start, list[len(list)-1].end})
	if err != nil {
		return nil, err
	}
	cohorts := sel.history.convertible(sel.rates).cohorts(sel.rates, list)
	views := make([]Cohort, len(cohorts))
	for i, c := range cohorts {
		views[i] = Cohort{list[i].month(), c.customers, make([]*shape.Quantity, len(c.counts))}
		for k := range c.counts {
			value := ratio(c.counts[k], c.customers)
			if in.Measure == MeasureRevenue {
				value = ratio(c.amounts[k], c.amounts[0])
			}
			views[i].Values[k] = viewRatio(value)
		}
	}
	if in.Format == "csv" {
		return new(rest.Body[CohortList]).ReplaceWith(cohortFile(ctx, views, in.BOM)), nil
	}
	return rest.NewBody(CohortList{Data: views}), nil
}

// cohortFile returns a file with a column for each month after the first.
func cohortFile(ctx context.Context, list []Cohort, bom bool) *rest.Blob {
	header := []string{"month", "customers"}
	for k := range list {
		header = append(header, "value_"+strconv.Itoa(k))
	}
	return sheet.Rows(ctx, "cohorts", header, list, bom, func(_ context.Context, c Cohort) ([]string, error) {
		fields := make([]string, len(header))
		fields[0], fields[1] = c.Month, strconv.FormatInt(c.Customers, 10)
		for k, v := range c.Values {
			if v != nil {
				fields[2+k] = v.String()
			}
		}
		return fields, nil
	})
}
