package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The service deletes expired rows and keeps the others.
func TestRetention(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Impersonate(s.Admin(), ada).Want(200)
		s.Call("POST", ada.Path("/team/invitations"), ada.Token, apptest.Object{"email": "eve@example.com", "role": "member"}).Want(201)
		entries, now := s.CountRows("SELECT count(*) FROM audit_logs"), clock.System().Now()
		if entries == 0 || s.CountRows("SELECT count(*) FROM impersonation_logs") == 0 || s.CountRows("SELECT count(*) FROM invitations") != 1 {
			t.Fatal("no rows to delete")
		}
		apptest.Exec(t, s.DB(), `INSERT INTO psp_events (id, type, object_id, received_at, handled_at) VALUES ('evt_old', 'x', 'y', $1, $1), ('evt_new', 'x', 'y', $2, $2)`,
			now.Add(-20*apptest.Day), now.Add(5*apptest.Day))
		for id, died := range map[string]time.Time{"old": now.Add(-20 * apptest.Day), "new": now.Add(5 * apptest.Day)} {
			apptest.Exec(t, s.DB(), `INSERT INTO jobs (id, kind, payload, due_at, dead_at, created_at) VALUES ($1, $2, '{}', $3, $3, $3)`, sqldb.NewID(), id, died)
		}
		s.Advance(15 * apptest.Day)
		apptest.Eventually(t, "old deliveries and dead jobs are deleted", func() bool {
			return s.CountRows("SELECT count(*) FROM psp_events WHERE id = 'evt_old'")+s.CountRows("SELECT count(*) FROM jobs WHERE kind = 'old'") == 0
		})
		for _, kept := range []string{"psp_events WHERE id = 'evt_new'", "jobs WHERE kind = 'new'"} {
			if s.CountRows("SELECT count(*) FROM "+kept) != 1 {
				t.Errorf("gone before its time: %s", kept)
			}
		}
		if got := s.CountRows("SELECT count(*) FROM audit_logs"); got < entries {
			t.Errorf("%d of %d entries after 15 days", got, entries)
		}
		apptest.Exec(t, s.DB(), `INSERT INTO psp_events (id, type, object_id, received_at) VALUES ('evt_waits', 'x', 'z', $1)`, now)
		s.Call("POST", "/sandbox/clock", "", apptest.Object{"to": now.Add(435 * apptest.Day).Format(time.RFC3339)}).Want(200)
		apptest.Eventually(t, "the trail, the log and invitations end", func() bool {
			// A job that runs during the jump uses the old time. The next run is ten minutes later.
			s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "10m"}).Want(200)
			return s.CountRows("SELECT count(*) FROM audit_logs WHERE created_at < $1", now.Add(apptest.Day))+
				s.CountRows("SELECT count(*) FROM impersonation_logs WHERE created_at < $1", now.Add(apptest.Day))+s.CountRows("SELECT count(*) FROM invitations") == 0
		})
		if s.CountRows("SELECT count(*) FROM psp_events WHERE id = 'evt_waits'") != 1 {
			t.Error("a notification that was never handled is forgotten")
		}
	})
}

// A mail that can never be sent remains as a dead job for weeks, without the token of its link.
func TestDeadMailHasNoToken(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := strings.Repeat("tOk3n", 12) + "abcd"
		payload := `{"to":"no address","subject":"Reset","text":"Open https://x.example/reset-password?token=` + token + `&email=a"}`
		id := sqldb.NewID()
		apptest.Exec(t, s.DB(), `INSERT INTO jobs (id, kind, payload, due_at, created_at) VALUES ($1, 'mail.send', $2, $3, $3)`, id, payload, clock.System().Now())
		var kept string
		apptest.Eventually(t, "the job is dead", func() bool {
			row := s.DB().Conn(t.Context()).QueryRowContext(t.Context(), `SELECT payload FROM jobs WHERE id = $1 AND dead_at IS NOT NULL`, id)
			return row.Scan(&kept) == nil
		})
		if strings.Contains(kept, token) || !strings.Contains(kept, "token=[removed]") || !strings.Contains(kept, "Reset") {
			t.Errorf("the dead job has the payload %s", kept)
		}
	})
}
