package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/jobs"
)

// The payload of a dead job is redacted. A job that contained secrets cannot be retried; other jobs
// can.
func TestDeadJobsLoseTheirSecrets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		q.Handle("mail", func(context.Context, jobs.Job) error { return jobs.MarkFatal(errOops) })
		q.Redact("mail", func(payload []byte) ([]byte, bool) {
			return bytes.ReplaceAll(payload, []byte("hush"), []byte("[removed]")), bytes.Contains(payload, []byte("hush"))
		})
		start(t, q)
		enqueue(t, q, "mail", "a token: hush")
		enqueue(t, q, "mail", "plain")
		waitFor(t, q, jobs.Stats{Dead: 2})
		dead, err := q.ListDead(t.Context(), "", 9)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dead {
			want := error(nil)
			switch string(d.Payload) {
			case `"a token: [removed]"`:
				want = jobs.ErrPayloadDeleted
			case `"plain"`:
			default:
				t.Errorf("kept with %s", d.Payload)
			}
			if err := q.Retry(t.Context(), d.ID); !errors.Is(err, want) {
				t.Errorf("%s: retry returned %v, want %v", d.Payload, err, want)
			}
		}
		now := r.clock.Now()
		if at, err := q.DeleteOldDead(t.Context(), time.Time{}, now.Add(time.Hour), 9); err != nil || len(at) == 0 || at[0].After(now) {
			t.Errorf("old dead jobs: %v, %v", at, err)
		}
	})
}
