package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/settings"
)

// JobList selects dead jobs and the output format.
type JobList struct {
	Kind  string // "" for all
	Limit int
	JSON  bool
}

// deadJob is the JSON of a dead job.
type deadJob struct {
	ID        uuid.UUID       `json:"id"`
	Kind      string          `json:"kind"`
	Key       string          `json:"key"`
	Attempts  int             `json:"attempts"`
	LastError string          `json:"last_error"`
	CreatedAt time.Time       `json:"created_at"`
	DeadAt    time.Time       `json:"dead_at"`
	Retryable bool            `json:"retryable"`
	Payload   json.RawMessage `json:"payload"`
}

// ListJobs writes the jobs that are no longer retried, latest first, as a table or as JSON.
func ListJobs(ctx context.Context, s settings.Settings, p JobList, out io.Writer) error {
	if p.Limit < 1 {
		return &settings.Error{Name: "--limit", Reason: "must be at least 1"}
	}
	return withJobs(ctx, s, func(queue *jobs.Queue) error {
		dead, err := queue.ListDead(ctx, p.Kind, p.Limit)
		if err != nil {
			return err
		}
		if p.JSON {
			return writeJobs(out, dead)
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tKIND\tATTEMPTS\tDIED\tRETRY\tLAST ERROR") // Flush returns the error
		for _, d := range dead {
			retry := "yes"
			if d.Emptied {
				retry = "no"
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\n", d.ID, d.Kind, d.Attempt, d.DeadAt.UTC().Format(time.RFC3339), retry, oneLine(d.LastError))
		}
		return table.Flush()
	})
}

func writeJobs(out io.Writer, dead []jobs.DeadJob) error {
	list := make([]deadJob, len(dead))
	for i, d := range dead {
		list[i] = deadJob{
			ID: d.ID, Kind: d.Kind, Key: d.Key, Attempts: d.Attempt, LastError: d.LastError,
			CreatedAt: d.CreatedAt.UTC(), DeadAt: d.DeadAt.UTC(), Retryable: !d.Emptied, Payload: d.Payload,
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"jobs": list})
}

// oneLine returns the first line of an untrusted error, without control characters.
func oneLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// JobSelection selects dead jobs.
type JobSelection struct {
	IDs  []string // empty for all of Kind
	Kind string   // "" for all
}

// RetryJobs queues dead jobs again for the running service. Without IDs it skips jobs that cannot
// be retried.
func RetryJobs(ctx context.Context, s settings.Settings, p JobSelection, out io.Writer) error {
	return applyToJobs(ctx, s, p, out, "queued again", (*jobs.Queue).Retry)
}

// DropJobs deletes dead jobs. Their work is never done.
func DropJobs(ctx context.Context, s settings.Settings, p JobSelection, out io.Writer) error {
	return applyToJobs(ctx, s, p, out, "dropped", (*jobs.Queue).Drop)
}

// applyToJobs applies decide to each job separately. It returns an error for each job in p.IDs that
// fails.
func applyToJobs(
	ctx context.Context, s settings.Settings, p JobSelection, out io.Writer, done string,
	decide func(*jobs.Queue, context.Context, uuid.UUID) error,
) error {
	ids := make([]uuid.UUID, len(p.IDs))
	for i, text := range p.IDs {
		id, err := uuid.Parse(text)
		if err != nil {
			return &settings.Error{Name: "id", Reason: fmt.Sprintf("%q is not a job ID", text)}
		}
		ids[i] = id
	}
	return withJobs(ctx, s, func(queue *jobs.Queue) error {
		named := len(ids) > 0
		if !named {
			var err error
			if ids, err = queue.DeadIDs(ctx, p.Kind); err != nil {
				return err
			}
		}
		decided, emptied := 0, 0
		var failed []error
		for _, id := range ids {
			err := decide(queue, ctx, id)
			switch {
			case err == nil:
				decided++
			case named:
				failed = append(failed, fmt.Errorf("%s: %w", id, err))
			case errors.Is(err, jobs.ErrPayloadDeleted):
				emptied++
			case !errors.Is(err, jobs.ErrNotDead): // another process has retried or dropped the job
				return err
			}
		}
		left := ""
		if emptied > 0 {
			left = fmt.Sprintf(", %d skipped because their payloads contained tokens and were deleted", emptied)
		}
		return errors.Join(printResult(out, nil, "%s %s%s\n", FormatCount(decided, "job"), done, left), errors.Join(failed...))
	})
}

func withJobs(ctx context.Context, s settings.Settings, command func(*jobs.Queue) error) (err error) {
	db, err := OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer CloseJoining(db, &err)
	return command(jobs.New(jobs.Deps{DB: db, Clock: clock.System(), Lease: clock.System()}))
}
