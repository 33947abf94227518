package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// A soft quota is told of by mail at 80 and at 100 percent, and blocks nothing.
func TestSoftQuotaAlerts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.soften("api-calls")
		o := s.register("soft@example.com", true)
		s.subscribe(o, "free")
		record := func(quantity int) {
			t.Helper()
			s.call("POST", "/api/v1/tenant/"+o.tenant+"/usage", o.token, map[string]any{"meter_code": "api-calls", "quantity": quantity}).want(201)
		}
		record(79)
		record(1)
		record(1)
		record(19)
		record(1000)
		alerts := func() (subjects []string) {
			list, _ := s.call("GET", "/sandbox/mail/messages", "", nil).want(200).at("data").([]any)
			for _, m := range list {
				m := m.(map[string]any)
				if subject, _ := m["subject"].(string); fmt.Sprint(m["to"]) == "billing@example.com" && strings.Contains(subject, "API calls") {
					subjects = append(subjects, subject)
				}
			}
			return subjects
		}
		eventually(t, "the second mail", func() bool { return len(alerts()) >= 2 })
		if got := strings.Join(alerts(), "\n"); len(alerts()) != 2 || strings.Count(got, "80%") != 1 {
			t.Errorf("mails:\n%s", got)
		}
	})
}

// soften makes a demo meter alert instead of refuse.
func (s *server) soften(meter string) {
	s.t.Helper()
	db, err := sqldb.Open(s.t.Context(), sqldb.Config{URL: s.database})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Conn(s.t.Context()).ExecContext(s.t.Context(), `UPDATE meters SET quota_enforcement = 'soft' WHERE code = $1`, meter); err != nil {
		s.t.Fatal(err)
	}
}
