package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/usage"
)

// RebuildParams says what RebuildUsage looks at.
type RebuildParams struct {
	Tenant string // the id of one tenant; "" for all
	DryRun bool   // only tell the differences
}

// ErrCountersDiffer says that counters are wrong and were left so.
var ErrCountersDiffer = errors.New("counters differ from their events")

// RebuildUsage counts the events of every counter of usage anew, writes each
// difference, of which none is expected, and puts it right. It may run beside the
// service. A dry run that finds a difference returns ErrCountersDiffer.
func RebuildUsage(ctx context.Context, s settings.Settings, p RebuildParams, out io.Writer) (err error) {
	var tenantID *uuid.UUID
	if p.Tenant != "" {
		id, err := uuid.Parse(p.Tenant)
		if err != nil {
			return &settings.Error{Name: "--tenant", Reason: fmt.Sprintf("%q is not the id of a tenant", p.Tenant)}
		}
		tenantID = &id
	}
	db, err := openMigrated(ctx, s)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	what := "put right"
	if p.DryRun {
		what = "left"
	}
	n, err := usage.NewRecounter(db, clock.System()).Recount(ctx, tenantID, !p.DryRun, func(d usage.Difference) {
		_, _ = fmt.Fprintf(out, "tenant %s, meter %s, %s: showed %s, events come to %s: %s\n",
			d.TenantID, d.MeterCode, periodText(d.Period), d.Stored, d.Counted, what)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d counters of %d streams: %d differ, %d skipped because events of theirs may have been deleted\n",
		n.Counters, n.Streams, n.Differences, n.Skipped)
	if err == nil && p.DryRun && n.Differences > 0 {
		err = ErrCountersDiffer
	}
	return err
}

func periodText(p usage.Period) string {
	if p.Unbounded() {
		return "all of time"
	}
	return p.Start.UTC().Format(time.RFC3339) + " to " + p.End.UTC().Format(time.RFC3339)
}
