package commands

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
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// RebuildParams configures RebuildUsage.
type RebuildParams struct {
	Tenant    string // id of the only tenant; "" for all tenants
	DryRun    bool   // only list the differences
	FromStart bool   // start with the first stream even if a run was interrupted
	// Progress receives progress lines.
	Progress io.Writer
}

// progressEvery is the interval between progress lines.
const progressEvery = 2 * time.Second

// errCountersDiffer reports that a dry run found wrong counters.
var errCountersDiffer = errors.New("counters do not match their events")

// RebuildUsage recalculates every usage counter from its events. It lists and corrects each
// difference; normally the counters are correct. It can run at the same time as the service. A dry
// run returns errCountersDiffer if it finds differences. A run for all tenants continues an
// interrupted one.
func RebuildUsage(ctx context.Context, s settings.Settings, p RebuildParams, out io.Writer) (err error) {
	var tenantID *uuid.UUID
	if p.Tenant != "" {
		id, err := uuid.Parse(p.Tenant)
		if err != nil {
			return &settings.Error{Name: "--tenant", Reason: fmt.Sprintf("%q is not a tenant ID", p.Tenant)}
		}
		tenantID = &id
	}
	db, err := OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer CloseJoining(db, &err)
	outcome := "corrected"
	if p.DryRun {
		outcome = "not changed"
	}
	told := clock.System().Now()
	n, err := retention.NewRecounter(db, clock.System()).Recount(ctx, retention.Recount{
		Tenant: tenantID, Fix: !p.DryRun, FromStart: p.FromStart,
		Wrong: func(c retention.WrongCounter) {
			_, _ = fmt.Fprintf(out, "tenant %s, meter %s, %s: shown %s, counted %s: %s\n",
				c.TenantID, c.MeterCode, periodText(c.Period), c.Stored, c.Counted, outcome)
		},
		Resumed: func(found retention.RecountResult, at time.Time) {
			_, _ = fmt.Fprintf(p.Progress, "continuing after %s, where a run was interrupted at %s\n",
				FormatCount(found.Streams, "stream"), at.UTC().Format(time.RFC3339))
		},
		Progress: func(found retention.RecountResult, streams int) {
			if now := clock.System().Now(); now.Sub(told) >= progressEvery {
				told = now
				_, _ = fmt.Fprintf(p.Progress, "%d of %s, %s\n", found.Streams, FormatCount(streams, "stream"), FormatCount(found.Events, "event"))
			}
		},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s of %s: %d wrong, %d skipped because some of their events may be deleted\n",
		FormatCount(n.Counters, "counter"), FormatCount(n.Streams, "stream"), n.Wrong, n.Skipped)
	if err == nil && p.DryRun && n.Wrong > 0 {
		err = errCountersDiffer
	}
	return err
}

func periodText(p usage.Period) string {
	if p.Unbounded() {
		return "without a period"
	}
	return p.Start.UTC().Format(time.RFC3339) + " to " + p.End.UTC().Format(time.RFC3339)
}
