package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/jobs"
)

// If the clock is set back, a job that was already due, or that was waiting for a retry, runs
// immediately. A job scheduled for later keeps waiting.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		mails, tries, reminders := make(chan bool, 9), make(chan int, 9), make(chan bool, 9)
		queue := func() *jobs.Queue {
			q := r.queue(nil)
			q.Handle("mail", func(context.Context, jobs.Job) error { mails <- true; return nil })
			q.Handle("again", func(_ context.Context, j jobs.Job) error {
				tries <- j.Attempt
				if j.Attempt == 1 {
					return errOops
				}
				return nil
			})
			q.Handle("reminder", func(context.Context, jobs.Job) error { reminders <- true; return nil })
			return q
		}
		ahead := queue()
		enqueue(t, ahead, "again", nil)
		stop := start(t, ahead)
		receive(t, tries)
		stop()
		enqueue(t, ahead, "mail", nil)
		enqueue(t, ahead, "reminder", nil, jobs.At(r.clock.Now().Add(time.Hour)))

		r.clock.Set(r.clock.Now().Add(-10 * 24 * time.Hour))
		start(t, queue())
		receive(t, mails)
		if attempt := receive(t, tries); attempt != 2 {
			t.Errorf("attempt %d", attempt)
		}
		select {
		case <-reminders:
			t.Error("a reminder for later was sent")
		case <-time.After(while):
		}
	})
}
