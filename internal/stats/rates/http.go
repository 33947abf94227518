package rates

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// HTTP has the handlers.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(s *Service) *HTTP { return &HTTP{s} }

// DayRates are the exchange rates of one day.
type DayRates struct {
	Date  string                     `json:"date" format:"date" doc:"Day of the rates."`
	Rates map[string]shape.UnitPrice `json:"rates" doc:"Units of each currency for one unit of the base currency, by currency code."`
}

type listInput struct {
	From string `query:"from" format:"date" doc:"First day. Default: 29 days before to."`
	To   string `query:"to" format:"date" doc:"Last day. Default: today, in UTC."`
}

// listedDays is the default length of the list, in days.
const listedDays = 30

var errPeriod = fault.OnField("from", "validation.before_to")

// List handles GET /admin/rates.
func (h *HTTP) List(ctx context.Context, in *listInput) (*rest.Data[[]DayRates], error) {
	to, err := time.Parse(time.DateOnly, in.To)
	if err != nil { // absent, because the format was checked
		to = h.svc.today()
	}
	from, err := time.Parse(time.DateOnly, in.From)
	if err != nil {
		from = to.AddDate(0, 0, 1-listedDays)
	}
	if from.After(to) {
		return nil, errPeriod
	}
	days, err := h.svc.store.list(ctx, h.svc.deps.Base, journal.DayOf(from), journal.DayOf(to))
	if err != nil {
		return nil, err
	}
	views := make([]DayRates, len(days))
	for i, d := range days {
		views[i] = view(d)
	}
	return rest.OK(views), nil
}

func view(d day) DayRates {
	v := DayRates{journal.StartOf(d.day).Format(time.DateOnly), make(map[string]shape.UnitPrice, len(d.rates))}
	for currency, value := range d.rates {
		v.Rates[currency] = shape.UnitPrice{UnitPrice: value}
	}
	return v
}

// givenRate is an exchange rate in a request body: above 0.
type givenRate struct{ shape.UnitPrice }

// Schema returns the schema of the type.
func (givenRate) Schema(r *shape.Registry) *shape.Schema {
	s := shape.UnitPrice{}.Schema(r)
	s.Above, s.Minimum = s.Minimum, nil
	return s
}

type putInput struct {
	Date string `path:"date" doc:"Day of the rates, such as 2026-01-31."`
	Body struct {
		Rates map[string]givenRate `json:"rates" doc:"Units of each currency for one unit of the base currency, by currency code. Each is above 0, with at most ten decimals."`
	}
}

// Put handles PUT /admin/rates/{date}.
func (h *HTTP) Put(ctx context.Context, in *putInput) (*rest.Data[DayRates], error) {
	date, wrongDate := parseDate(in.Date)
	rates, wrongRates := readRates(in.Body.Rates)
	if err := fault.Join(wrongDate, wrongRates, h.svc.check(ctx, date, rates)); err != nil {
		return nil, err
	}
	if h.svc.deps.Base == "" {
		return nil, errNoBase
	}
	if err := h.svc.set(ctx, date, rates); err != nil {
		return nil, err
	}
	return rest.OK(view(day{journal.DayOf(date), rates})), nil
}

func parseDate(text string) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, text)
	if err != nil || date.Year() < 1 {
		return time.Time{}, errDate
	}
	return date, nil
}

// readRates returns rates by currency code in upper case. It reports every rate with too many
// decimals.
func readRates(given map[string]givenRate) (map[string]money.UnitPrice, error) {
	rates := make(map[string]money.UnitPrice, len(given))
	var problems []error
	for _, currency := range slices.Sorted(maps.Keys(given)) {
		value := given[currency].UnitPrice.UnitPrice
		path := "rates." + currency
		_, decimals, _ := strings.Cut(value.String(), ".")
		code := strings.ToUpper(currency)
		_, repeated := rates[code]
		switch {
		case len(decimals) > Decimals:
			tooPrecise := fault.OnField(path, "validation.decimals")
			tooPrecise.Fields[0].Args = map[string]any{"max": Decimals}
			problems = append(problems, tooPrecise)
		case repeated:
			problems = append(problems, fault.OnField(path, "validation.repeated"))
		}
		rates[code] = value
	}
	return rates, fault.Join(problems...)
}

type deleteInput struct {
	Date string `path:"date" doc:"Day of the rates, such as 2026-01-31."`
}

// Delete handles DELETE /admin/rates/{date}.
func (h *HTTP) Delete(ctx context.Context, in *deleteInput) (*rest.NoBody, error) {
	date, err := parseDate(in.Date)
	if err != nil || h.svc.deps.Base == "" {
		return nil, err
	}
	return nil, h.svc.set(ctx, date, nil)
}
