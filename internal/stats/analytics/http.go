package analytics

import (
	"context"
	"math/big"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// HTTP has the handlers.
type HTTP struct {
	svc       *Service
	publicURL string
}

// NewHTTP returns the handlers.
func NewHTTP(s *Service, publicURL string) *HTTP { return &HTTP{s, publicURL} }

// filters are the filters of all requests.
type filters struct {
	Plan     string `query:"plan" maxLength:"255" doc:"Slug of a plan. Only subscriptions to it count."`
	Currency string `query:"currency" format:"currency" doc:"Only subscriptions in this currency count. Required without a base currency if subscriptions have several."`
}

// fileFormat selects a file instead of JSON.
type fileFormat struct {
	Format string `query:"format" enum:"json,csv" default:"json" doc:"csv returns a file."`
	BOM    bool   `query:"bom" doc:"Whether to start the CSV with a byte order mark, which Excel requires for UTF-8."`
}

type analyticsInput struct {
	From string `query:"from" doc:"First month, such as 2026-01. Default: 11 months before to."`
	To   string `query:"to" doc:"Last month, such as 2026-12. Default: the current month."`
	filters
	fileFormat
}

// monthLayout is the format of months.
const monthLayout = "2006-01"

// parseMonth reads a month, or returns zero for an empty text.
func parseMonth(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(monthLayout, text)
	if err != nil || at.Year() < 1 {
		return at, fault.OnField(field, "validation.month")
	}
	return at, nil
}

// Analytics are the figures of recurring revenue. Amounts are in minor units of meta.currency.
type Analytics struct {
	MRR                 int64               `json:"mrr" doc:"Monthly recurring revenue at the end of the last month."`
	ARR                 int64               `json:"arr" doc:"Annual recurring revenue: 12 times mrr."`
	Customers           int64               `json:"customers" doc:"Tenants with recurring revenue."`
	ARPU                *int64              `json:"arpu" doc:"Average revenue per customer. Null without customers."`
	NetRevenueRetention *shape.Quantity     `json:"net_revenue_retention" doc:"Revenue of the customers of twelve months ago divided by their revenue then. Null without such customers."`
	CustomerChurn       *shape.Quantity     `json:"customer_churn" doc:"Share of customers lost in the month. Null without customers at the beginning."`
	RevenueChurn        *shape.Quantity     `json:"revenue_churn" doc:"Share of revenue lost in the month. Null without revenue at the beginning."`
	TrialConversion     *shape.Quantity     `json:"trial_conversion" doc:"Share of the trials that ended in the month and were followed by a payment. Null without such trials."`
	Months              []MonthFigures      `json:"months" doc:"Figures of each month, oldest first."`
	ByPlan              []RevenueByPlan     `json:"by_plan" doc:"Revenue by plan at the end of the last month, largest first."`
	ByCurrency          []RevenueByCurrency `json:"by_currency" doc:"Revenue by currency at the end of the last month, largest first."`
}

// MonthFigures are the figures of a month.
type MonthFigures struct {
	Month                string `json:"month" doc:"Month, such as 2026-01."`
	Opening              int64  `json:"opening" doc:"Revenue at the beginning: the closing of the previous month."`
	New                  int64  `json:"new" doc:"Revenue of customers that had none before."`
	Expansion            int64  `json:"expansion" doc:"Additional revenue of existing customers."`
	Contraction          int64  `json:"contraction" doc:"Lost revenue of customers that remain. At most 0."`
	Churn                int64  `json:"churn" doc:"Lost revenue of customers without revenue at the end. At most 0."`
	Reactivation         int64  `json:"reactivation" doc:"Revenue of customers that returned."`
	Exchange             int64  `json:"exchange" doc:"Effect of exchange rates on the opening revenue."`
	Closing              int64  `json:"closing" doc:"Revenue at the end: the sum of the amounts before."`
	CustomersOpening     int64  `json:"customers_opening" doc:"Customers at the beginning."`
	CustomersNew         int64  `json:"customers_new" doc:"New customers."`
	CustomersChurned     int64  `json:"customers_churned" doc:"Lost customers."`
	CustomersReactivated int64  `json:"customers_reactivated" doc:"Customers that returned."`
	CustomersClosing     int64  `json:"customers_closing" doc:"Customers at the end."`
	TrialsEnded          int64  `json:"trials_ended" doc:"Trials that ended in the month."`
	TrialsConverted      int64  `json:"trials_converted" doc:"Of these, trials followed by a paid invoice above 0 in the month or within 30 days."`
}

// RevenueByPlan is the revenue of a plan.
type RevenueByPlan struct {
	Plan          AnalyticsPlan `json:"plan"`
	Subscriptions int64         `json:"subscriptions" doc:"Active and past due subscriptions."`
	MRR           int64         `json:"mrr" doc:"Monthly recurring revenue."`
}

// AnalyticsPlan is a plan, which can be deleted.
type AnalyticsPlan struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
}

// RevenueByCurrency is the revenue in a currency.
type RevenueByCurrency struct {
	Currency string           `json:"currency"`
	MRR      int64            `json:"mrr" doc:"Monthly recurring revenue, in minor units of this currency."`
	Rate     *shape.UnitPrice `json:"rate" doc:"Units of this currency for one unit of the base currency. Null without a base currency or a rate."`
	MRRBase  *int64           `json:"mrr_base" doc:"Monthly recurring revenue, in minor units of the base currency. Null without a base currency or a rate."`
}

// AnalyticsMeta describes the figures.
type AnalyticsMeta struct {
	From         string        `json:"from" doc:"First month."`
	To           string        `json:"to" doc:"Last month."`
	Currency     *string       `json:"currency" doc:"Currency of the amounts. Null if no subscription has revenue and no base currency is set."`
	MissingRates []MissingRate `json:"missing_rates" doc:"Months in which a currency in use had no exchange rate of its own."`
}

// MissingRate is a month in which a currency in use had no exchange rate of its own.
type MissingRate struct {
	Currency string `json:"currency"`
	Month    string `json:"month" doc:"Month, such as 2026-01."`
}

// AnalyticsReport is the response of Show.
type AnalyticsReport struct {
	Data Analytics     `json:"data"`
	Meta AnalyticsMeta `json:"meta"`
}

// refuseUnknown returns the error of lists for filter, sort and include, which figures do not support.
func refuseUnknown(ctx context.Context) error {
	_, err := page.Spec{Tiebreak: "month"}.Parse(rest.RequestOf(ctx).Query())
	return err
}

// Show handles GET /admin/analytics.
func (h *HTTP) Show(ctx context.Context, in *analyticsInput) (*rest.Body[AnalyticsReport], error) {
	if err := refuseUnknown(ctx); err != nil {
		return nil, err
	}
	from, wrongFrom := parseMonth("from", in.From)
	to, wrongTo := parseMonth("to", in.To)
	if err := fault.Join(wrongFrom, wrongTo); err != nil {
		return nil, err
	}
	list, err := period(from, to, h.svc.deps.Clock.Now())
	if err != nil {
		return nil, err
	}
	sel, err := h.svc.load(ctx, in.Plan, in.Currency, window{list[0].start, list[len(list)-1].end})
	if err != nil {
		return nil, err
	}
	r := sel.history.report(sel.rates, list)
	if in.Format == "csv" {
		rows := monthRows(r.months, list, sel.currency)
		return new(rest.Body[AnalyticsReport]).ReplaceWith(sheet.FromSlice(ctx, "analytics", h.svc.deps.Rates.Decimals, rows, in.BOM)), nil
	}
	names, err := h.svc.store.planNames(ctx, i18n.Locale(ctx))
	if err != nil {
		return nil, err
	}
	return rest.NewBody(AnalyticsReport{r.view(list, names), r.meta(list, sel.currency)}), nil
}

func (r report) meta(list []window, currency *string) AnalyticsMeta {
	m := AnalyticsMeta{list[0].month(), list[len(list)-1].month(), currency, make([]MissingRate, len(r.missingRates))}
	for i, missing := range r.missingRates {
		m.MissingRates[i] = MissingRate{missing.code, missing.month.Format(monthLayout)}
	}
	return m
}

func (w window) month() string { return w.start.At.Format(monthLayout) }

func (r report) view(list []window, names map[uuid.UUID]string) Analytics {
	last := r.months[len(r.months)-1]
	v := Analytics{
		MRR: last.Closing, ARR: 12 * last.Closing, Customers: last.CustomersClosing,
		NetRevenueRetention: viewRatio(r.retention), CustomerChurn: viewRatio(ratio(last.CustomersChurned, last.CustomersOpening)),
		RevenueChurn:    viewRatio(ratio(-(last.Contraction + last.Churn), last.Opening)),
		TrialConversion: viewRatio(ratio(last.TrialsConverted, last.TrialsEnded)),
		Months:          make([]MonthFigures, len(list)), ByPlan: []RevenueByPlan{}, ByCurrency: []RevenueByCurrency{},
	}
	if last.CustomersClosing > 0 {
		average := quotient(big.NewInt(last.Closing), last.CustomersClosing)
		v.ARPU = &average
	}
	for i, f := range r.months {
		v.Months[i] = f.view(list[i])
	}
	for _, p := range r.byPlan {
		v.ByPlan = append(v.ByPlan, RevenueByPlan{AnalyticsPlan{p.id, names[p.id]}, p.subscriptions, p.amount})
	}
	for _, c := range r.byCurrency {
		out := RevenueByCurrency{Currency: c.code, MRR: c.amount, MRRBase: c.converted}
		if c.rate != nil {
			out.Rate = &shape.UnitPrice{UnitPrice: *c.rate}
		}
		v.ByCurrency = append(v.ByCurrency, out)
	}
	return v
}

func (f Figures) view(w window) MonthFigures {
	return MonthFigures{
		Month: w.month(), Opening: f.Opening, New: f.New, Expansion: f.Expansion, Contraction: f.Contraction, Churn: f.Churn,
		Reactivation: f.Reactivation, Exchange: f.Exchange, Closing: f.Closing, CustomersOpening: f.CustomersOpening,
		CustomersNew: f.CustomersNew, CustomersChurned: f.CustomersChurned, CustomersReactivated: f.CustomersReactivated,
		CustomersClosing: f.CustomersClosing, TrialsEnded: f.TrialsEnded, TrialsConverted: f.TrialsConverted,
	}
}
