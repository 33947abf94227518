package blackbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A soft quota sends emails at 80 and 100 percent and rejects no usage. Translated emails contain
// the translated unit, and the translated name of the feature that has the same code as the meter.
func TestSoftQuotaAlerts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		soften(s, "api-calls")
		o, fr := s.Register("soft@example.com", true), s.Register("doux@example.com", true)
		s.Call("PATCH", "/api/v1/tenant", fr.Token, map[string]any{
			"billing_email": "doux@example.com", "settings": map[string]any{"locale": "fr"},
		}).Want(200)
		s.BuyPlan(o, "free")
		s.BuyPlan(fr, "free")
		s.Call("POST", fr.Path("/usage"), fr.Token, map[string]any{"meter_code": "api-calls", "quantity": 80}).Want(201)
		record := func(quantity int) {
			t.Helper()
			s.Call("POST", o.Path("/usage"), o.Token, map[string]any{"meter_code": "api-calls", "quantity": quantity}).Want(201)
		}
		record(79)
		record(1)
		record(1)
		record(19)
		record(1000)
		alerts := func() (subjects []string) {
			list, _ := s.Call("GET", "/sandbox/mail/messages", "", nil).Want(200).At("data").([]any)
			for _, m := range list {
				m := m.(map[string]any)
				if subject, _ := m["subject"].(string); fmt.Sprint(m["to"]) == "billing@example.com" && strings.Contains(subject, "API calls") {
					subjects = append(subjects, subject)
				}
			}
			return subjects
		}
		apptest.Eventually(t, "the second mail", func() bool { return len(alerts()) >= 2 })
		if got := strings.Join(alerts(), "\n"); len(alerts()) != 2 || strings.Count(got, "80%") != 1 {
			t.Errorf("mails:\n%s", got)
		}
		apptest.Eventually(t, "the mail in French", func() bool {
			return slices.ContainsFunc(s.Mails("doux@example.com"), func(m map[string]any) bool {
				return m["subject"] == "«\u00a0Appels d’API\u00a0»\u00a0: 80\u00a0% de la limite atteints" &&
					strings.Contains(m["text"].(string), "Consommation actuelle\u00a0: 80\u00a0appels\n")
			})
		})
	})
}

// soften changes the enforcement of a demo meter to soft.
func soften(s *apptest.Server, meter string) {
	s.T.Helper()
	db, err := sqldb.Open(s.T.Context(), sqldb.Config{URL: s.Database, Patience: dbtest.ConnTimeout})
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Conn(s.T.Context()).ExecContext(s.T.Context(), `UPDATE meters SET quota_enforcement = 'soft' WHERE code = $1`, meter); err != nil {
		s.T.Fatal(err)
	}
}

// Each value of the effective limit has its own alerts, each sent once per
// window. The quota row shows when they were sent.
func TestAlertsOfChangedLimits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "free") // 100 api-calls
		record := func(quantity int) {
			t.Helper()
			s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": quantity}).Want(201)
		}
		override := func(limit int) {
			t.Helper()
			s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/api-calls", s.Admin(), apptest.Object{"type": "quota", "value": limit, "reason": "test"}).Want(200)
		}
		wantSent := func(at80, at100 bool) {
			t.Helper()
			alerts := quotaRow(s, ada, "api-calls")["alerts"].([]any)
			for i, want := range []bool{at80, at100} {
				alert := alerts[i].(apptest.Object)
				if alert["percent"] != []any{80.0, 100.0}[i] || (alert["sent_at"] != nil) != want {
					t.Errorf("the alert is %v, want it sent: %t", alert, want)
				}
			}
		}
		wantSent(false, false)
		record(85)
		wantSent(true, false)
		override(200)
		wantSent(false, false)
		record(80)
		wantSent(true, false)
		record(35)
		wantSent(true, true)
		override(100)
		wantSent(true, false)
		if row := quotaRow(s, ada, "storage-gb"); len(row["alerts"].([]any)) != 2 {
			t.Errorf("%v", row)
		}
	})
}
