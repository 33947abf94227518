package usage_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// The size of metadata is limited, both alone and in a batch, because any member of a tenant can
// record events, even without a plan.
func TestMetadataIsBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, tenantID := newRecordSite(t, db)
		event := func(bytes int) string {
			return fmt.Sprintf(`{"meter_code":"calls","metadata":{"x":"%s"}}`, strings.Repeat("m", bytes-len(`{"x":""}`)))
		}
		const refusal = `"errors":{"metadata":["This must be at most 4,096 bytes as JSON."]}`
		if status, body := s.ask(t, tenantID, http.MethodPost, "", event(4<<10)); status != 201 {
			t.Errorf("the largest: %d %s", status, body)
		}
		if status, body := s.ask(t, tenantID, http.MethodPost, "", event(4<<10+1)); status != 422 || !strings.Contains(body, refusal) {
			t.Errorf("one byte more: %d %s", status, body)
		}
		status, body := s.ask(t, tenantID, http.MethodPost, "/batch", `{"events":[`+event(4<<10)+","+event(900_000)+`]}`)
		if status != 200 || !strings.Contains(body, `"status":201`) || !strings.Contains(body, `"status":422`) || !strings.Contains(body, refusal) {
			t.Errorf("a batch: %d %s", status, body)
		}
	})
}
