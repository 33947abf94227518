package usage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// A soft quota is told of by mail at 80 and at 100 percent, and blocks nothing.
func TestSoftQuotaAlerts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		soften(s, "api-calls")
		o := s.Register("soft@example.com", true)
		s.BuyPlan(o, "free")
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
	})
}

// soften makes a demo meter alert instead of refuse.
func soften(s *apptest.Server, meter string) {
	s.T.Helper()
	db, err := sqldb.Open(s.T.Context(), sqldb.Config{URL: s.Database})
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Conn(s.T.Context()).ExecContext(s.T.Context(), `UPDATE meters SET quota_enforcement = 'soft' WHERE code = $1`, meter); err != nil {
		s.T.Fatal(err)
	}
}
