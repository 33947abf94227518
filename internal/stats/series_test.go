package stats_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// series requests a time series.
func series(s *apptest.Server, query string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/admin/stats/series?"+query, s.Admin(), nil).As(query)
}

// values returns the values of a line.
func values(a apptest.Reply, n int) []float64 {
	found := []float64{}
	list, _ := a.At("data").([]any)
	if n >= len(list) {
		return nil
	}
	for _, p := range list[n].(apptest.Object)["points"].([]any) {
		found = append(found, p.(apptest.Object)["value"].(float64))
	}
	return found
}

// days returns the dates of the points of the first line.
func days(a apptest.Reply) []string {
	found := []string{}
	for _, p := range a.At("data.0.points").([]any) {
		found = append(found, p.(apptest.Object)["at"].(string))
	}
	return found
}

// startJournal advances to the 5th of the next month, so that the test does not start near the end
// of a month, and clears the journal entries of the demo subscriptions.
func startJournal(s *apptest.Server) {
	s.T.Helper()
	now := s.Now()
	s.AdvanceTo(time.Date(now.Year(), now.Month()+1, 5, 12, 0, 0, 0, time.UTC))
	apptest.Exec(s.T, s.DB(), `DELETE FROM subscription_journal`)
	apptest.Exec(s.T, s.DB(), `DELETE FROM subscription_days`)
}

// A series has the levels at the end of each day or month, before and after the journal is folded.
func TestSeries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		startJournal(s)
		s.AddPlan("larger", "flat", "month", 4900, 0, nil)
		first := s.Now()
		tenants := figures(s).At("data.tenants.total").(float64)
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "starter")
		s.Advance(apptest.Day)
		ada.LogInAgain()
		s.ChangePlan(ada.Owner, "larger", nil).Want(200)
		eve := s.NewCustomer("eve")
		eve.Buy(s.PlanID(eve.Owner, "starter"), "USD", apptest.Card(apptest.CardPays))
		s.Advance(2 * apptest.Day)
		eve.LogInAgain()
		s.Cancel(eve.Owner, true).Want(200)
		s.Call("DELETE", eve.Path(""), eve.Token, apptest.Object{"current_password": apptest.AdaLogin["password"]}).Want(204)
		from := first.AddDate(0, 0, -1).Format(time.DateOnly)
		check := func() {
			t.Helper()
			for query, want := range map[string][][]float64{
				"figure=mrr&interval=day&from=" + from:              {{0, 1900, 4900, 4900, 4900}, {0, 0, 2100, 2100, 0}},
				"figure=mrr&interval=day&currency=USD&from=" + from: {{0, 0, 2100, 2100, 0}},
				"figure=mrr&interval=day&currency=CHF&from=" + from: {{0, 0, 0, 0, 0}},
				"figure=subscriptions&interval=day&from=" + from:    {{0, 1, 2, 2, 1}},
				"figure=tenants&interval=day&from=" + from:          {{tenants, tenants + 1, tenants + 2, tenants + 2, tenants + 1}},
				"figure=mrr": {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4900}},
				"figure=mrr&interval=month&from=" + from + "&to=" + from:         {},
				"figure=subscriptions&interval=day&to=" + from + "&from=" + from: {{0}},
			} {
				a := series(s, query).Want(200)
				got := [][]float64{}
				for n := range a.At("data").([]any) {
					got = append(got, values(a, n))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", query, diff)
				}
			}
		}
		check()
		s.Advance(20 * time.Minute) // folds the journal
		apptest.Eventually(t, "the sums of days", func() bool {
			return s.CountRows(`SELECT count(*) FROM subscription_journal WHERE NOT is_folded`) == 0
		})
		if n := s.CountRows(`SELECT count(*) FROM subscription_days`); n < 4 {
			t.Errorf("%d sums of days", n)
		}
		check()
		a := series(s, "figure=mrr&interval=day&currency=EUR").Want(200)
		today := s.Now()
		if got := days(a); len(got) != 30 || got[0] != today.AddDate(0, 0, -29).Format(time.DateOnly) || got[29] != today.Format(time.DateOnly) {
			t.Errorf("the days are %v", got)
		}
		a.WantAt("data.0.currency", "EUR")
		a.WantAt("meta", apptest.Object{
			"figure": "mrr", "interval": "day", "from": today.AddDate(0, 0, -29).Format(time.DateOnly), "to": today.Format(time.DateOnly),
		})
		month := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, time.UTC)
		a = series(s, "figure=tenants&to="+today.AddDate(0, 0, 9).Format(time.DateOnly)).Want(200).WantAt("data.0.currency", nil)
		if got := days(a); len(got) != 12 || got[0] != month.AddDate(0, -11, 0).Format(time.DateOnly) || got[11] != month.Format(time.DateOnly) {
			t.Errorf("the months are %v", got)
		}
		a.WantAt("meta.to", today.Format(time.DateOnly))
	})
}

func TestSeriesRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for query, field := range map[string]string{
			"":                           "figure",
			"figure=profit":              "figure",
			"figure=mrr&interval=week":   "interval",
			"figure=mrr&from=yesterday":  "from",
			"figure=mrr&to=2026-02-30":   "to",
			"figure=mrr&currency=euro":   "currency",
			"figure=mrr&from=2999-01-01": "from",

			"figure=mrr&from=2026-02-02&to=2026-02-01": "from",

			"figure=mrr&interval=day&from=2024-01-01&to=2025-02-04": "from",
		} {
			series(s, query).WantInvalid(field)
		}
		if n := len(values(series(s, "figure=tenants&interval=day&from=2024-01-01&to=2025-02-03").Want(200), 0)); n != 400 {
			t.Errorf("%d points", n)
		}
	})
}
