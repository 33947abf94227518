package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// ListRefusedUsage writes a table of the billable usage that the payment provider rejected.
func ListRefusedUsage(ctx context.Context, s settings.Settings, out io.Writer) error {
	return withRejections(ctx, s, func(rejections *billing.Rejections) error {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tTENANT\tMETER\tQUANTITY\tRECORDED\tREJECTED\tREASON") // Flush returns the error
		err := rejections.ForEach(ctx, func(f billing.RejectedReport) error {
			_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.ID, f.TenantID, f.MeterCode, f.Quantity,
				f.RecordedAt.UTC().Format(time.RFC3339), f.RejectedAt.UTC().Format(time.RFC3339), f.Reason)
			return err
		})
		return errors.Join(err, table.Flush())
	})
}

// RejectedUsageSelection selects rejected usage.
type RejectedUsageSelection struct {
	IDs []string // event ids; empty for all
}

// RetryRefusedUsage queues rejected usage again. The running service submits it to the payment
// provider. Fix the reason for the rejection first.
func RetryRefusedUsage(ctx context.Context, s settings.Settings, p RejectedUsageSelection, out io.Writer) error {
	return decideRefused(ctx, s, p, out, "%s queued again\n", (*billing.Rejections).Retry)
}

// DiscardRefusedUsage discards rejected usage. It will never be billed.
func DiscardRefusedUsage(ctx context.Context, s settings.Settings, p RejectedUsageSelection, out io.Writer) error {
	return decideRefused(ctx, s, p, out, "%s discarded\n", (*billing.Rejections).Discard)
}

func decideRefused(
	ctx context.Context, s settings.Settings, p RejectedUsageSelection, out io.Writer, done string,
	decide func(*billing.Rejections, context.Context, uuid.UUID) error,
) error {
	var ids []uuid.UUID
	for _, text := range p.IDs {
		id, err := uuid.Parse(text)
		if err != nil {
			return &settings.Error{Name: "id", Reason: fmt.Sprintf("%q is not an event ID", text)}
		}
		ids = append(ids, id)
	}
	return withRejections(ctx, s, func(rejections *billing.Rejections) error {
		if len(ids) == 0 {
			err := rejections.ForEach(ctx, func(f billing.RejectedReport) error { ids = append(ids, f.ID); return nil })
			if err != nil {
				return err
			}
		}
		for _, id := range ids {
			if err := decide(rejections, ctx, id); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		return printResult(out, nil, done, FormatCount(len(ids), "event"))
	})
}

func withRejections(ctx context.Context, s settings.Settings, command func(*billing.Rejections) error) (err error) {
	db, err := OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer CloseJoining(db, &err)
	return command(billing.NewRejections(db, clock.System(), audit.New(audit.Deps{DB: db, Clock: clock.System()})))
}
