package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// deadJob is the command's JSON of a dead job.
type deadJob struct {
	ID        uuid.UUID
	Kind      string
	Key       string
	Attempts  int
	LastError string    `json:"last_error"`
	CreatedAt time.Time `json:"created_at"`
	DeadAt    time.Time `json:"dead_at"`
	Retryable bool
	Payload   json.RawMessage
}

// deadJobs runs the command for the dead jobs of a kind.
func deadJobs(s *apptest.Server, kind string, limit int) []deadJob {
	s.T.Helper()
	var out bytes.Buffer
	if err := commands.ListJobs(s.T.Context(), s.CLISettings(), commands.JobList{Kind: kind, Limit: limit, JSON: true}, &out); err != nil {
		s.T.Fatal(err)
	}
	var list struct{ Jobs []deadJob }
	if err := json.Unmarshal(out.Bytes(), &list); err != nil || list.Jobs == nil {
		s.T.Fatalf("%v: %s", err, &out)
	}
	return list.Jobs
}

// Dead jobs are listed with their last error. After the cause is fixed, a retried job succeeds in
// the running service. A job without its payload can only be dropped.
func TestDeadJobs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		queue := jobs.New(jobs.Deps{DB: s.DB(), Clock: clock.System(), Lease: clock.System()})
		enqueue := func(kind, payload string, options ...jobs.Option) {
			t.Helper()
			if err := queue.Enqueue(t.Context(), kind, payload, options...); err != nil {
				t.Fatal(err)
			}
		}
		// The payloads are strings, but both jobs expect objects.
		enqueue(account.JobForgot, "ada", jobs.Key("k"))
		enqueue(mail.JobSend, "with a token")
		apptest.Eventually(t, "two deaths", func() bool { return len(deadJobs(s, "", 9)) == 2 })
		forgot, letter := deadJobs(s, account.JobForgot, 9), deadJobs(s, mail.JobSend, 9)
		if len(forgot) != 1 || len(letter) != 1 || len(deadJobs(s, "unknown", 9)) != 0 || len(deadJobs(s, "", 1)) != 1 {
			t.Fatalf("listed %+v and %+v", forgot, letter)
		}
		f, l := forgot[0], letter[0]
		if f.Kind != account.JobForgot || f.Key != "k" || f.Attempts != 1 || !f.Retryable || string(f.Payload) != `"ada"` ||
			!strings.Contains(f.LastError, "cannot unmarshal string") || f.CreatedAt.IsZero() || f.DeadAt.Before(f.CreatedAt) {
			t.Errorf("listed %+v", f)
		}
		if l.Kind != mail.JobSend || l.Key != "" || l.Retryable || string(l.Payload) != `{}` {
			t.Errorf("listed %+v", l)
		}

		run := func(command func(context.Context, settings.Settings, commands.JobSelection, *bytes.Buffer) error, p commands.JobSelection, wantText, wantErr string) {
			t.Helper()
			var out bytes.Buffer
			err := command(t.Context(), s.CLISettings(), p, &out)
			if out.String() != wantText || (err == nil) != (wantErr == "") || err != nil && err.Error() != wantErr {
				t.Errorf("%+v: %q, %v; want %q, %s", p, &out, err, wantText, wantErr)
			}
		}
		retry := func(ctx context.Context, s settings.Settings, p commands.JobSelection, out *bytes.Buffer) error {
			return commands.RetryJobs(ctx, s, p, out)
		}
		drop := func(ctx context.Context, s settings.Settings, p commands.JobSelection, out *bytes.Buffer) error {
			return commands.DropJobs(ctx, s, p, out)
		}
		other := uuid.NewString()
		apptest.Exec(t, s.DB(), `UPDATE jobs SET payload = '{"email": "ada@example.com"}' WHERE id = $1`, f.ID)
		const emptied = ": its payload contained a token and was deleted, so it can only be dropped"
		run(retry, commands.JobSelection{IDs: []string{other, f.ID.String(), l.ID.String()}}, "1 job queued again\n",
			other+": no such dead job\n"+l.ID.String()+emptied)
		apptest.Eventually(t, "the mail", func() bool { return len(s.Mails("ada@example.com")) == 1 })
		run(retry, commands.JobSelection{IDs: []string{f.ID.String()}}, "0 jobs queued again\n", f.ID.String()+": no such dead job")
		run(retry, commands.JobSelection{}, "0 jobs queued again, 1 skipped because their payloads contained tokens and were deleted\n", "")

		enqueue(account.JobForgot, "grace")
		apptest.Eventually(t, "another death", func() bool { return len(deadJobs(s, "", 9)) == 2 })
		run(drop, commands.JobSelection{Kind: account.JobForgot}, "1 job dropped\n", "")
		run(drop, commands.JobSelection{IDs: []string{l.ID.String(), other}}, "1 job dropped\n", other+": no such dead job")
		run(drop, commands.JobSelection{}, "0 jobs dropped\n", "")
		if left := deadJobs(s, "", 9); len(left) != 0 {
			t.Errorf("left are %+v", left)
		}
	})
}

// Errors can contain untrusted text. A row shows it on one line, without terminal control
// characters.
func TestDeadJobsAsATable(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		died := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
		for i, emptied := range []bool{false, true} {
			apptest.Exec(t, s.DB(), `INSERT INTO jobs (id, kind, payload, attempt, due_at, created_at, dead_at, last_error, is_emptied)
VALUES ($1, 'a.b', '{}', 25, $2, $2, $2, $3, $4)`, uuid.New(), died.Add(time.Duration(i)*time.Hour), "550 \x1b[31mno\tsuch user\nstack", emptied)
		}
		var out bytes.Buffer
		if err := commands.ListJobs(t.Context(), s.CLISettings(), commands.JobList{Limit: 9}, &out); err != nil {
			t.Fatal(err)
		}
		want := regexp.MustCompile(`^ID +KIND +ATTEMPTS +DIED +RETRY +LAST ERROR
[0-9a-f-]{36}  a\.b   25        2026-11-22T09:00:00Z  no     550  \[31mno such user
[0-9a-f-]{36}  a\.b   25        2026-11-22T08:00:00Z  yes    550  \[31mno such user
$`)
		if !want.MatchString(out.String()) {
			t.Errorf("the table is\n%s", &out)
		}
	})
}
