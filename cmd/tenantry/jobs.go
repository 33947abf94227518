package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type jobsCmd struct {
	List  jobsListCmd  `cmd:"" help:"List dead jobs with their last error."`
	Retry jobsRetryCmd `cmd:"" help:"Queue dead jobs again, with the full number of attempts."`
	Drop  jobsDropCmd  `cmd:"" help:"Delete dead jobs. They are never run again."`
}

type jobsListCmd struct {
	settings.StoreFlags `embed:""`

	Kind  string `placeholder:"KIND" help:"List only jobs of this kind, such as mail.send. Default: all."`
	Limit int    `default:"100" placeholder:"N" help:"Maximum number of jobs to list, latest first. Default: 100."`
	JSON  bool   `name:"json" help:"Output JSON: {jobs: [{id, kind, key, attempts, last_error, created_at, dead_at, retryable, payload}]}."`
}

// Run writes the dead jobs.
func (c *jobsListCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.ListJobs(ctx, s, commands.JobList{Kind: c.Kind, Limit: c.Limit, JSON: c.JSON}, p.out)
}

// jobFlags selects dead jobs.
type jobFlags struct {
	ID   []string `arg:"" optional:"" help:"IDs of dead jobs."`
	All  bool     `help:"All dead jobs."`
	Kind string   `placeholder:"KIND" help:"All dead jobs of this kind."`
}

// decide calls do with the selected jobs.
func (f jobFlags) decide(p *process, store settings.StoreFlags, do func(settings.Settings, commands.JobSelection) error) error {
	s, err := store.Settings(p.getenv)
	if err != nil {
		return err
	}
	ways := 0
	for _, given := range []bool{len(f.ID) > 0, f.All, f.Kind != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return &settings.Error{Name: "id", Reason: "pass either IDs of dead jobs, --kind or --all"}
	}
	return do(s, commands.JobSelection{IDs: f.ID, Kind: f.Kind})
}

type jobsRetryCmd struct {
	settings.StoreFlags `embed:""`
	jobFlags            `embed:""`
}

// Run queues dead jobs again.
func (c *jobsRetryCmd) Run(ctx context.Context, p *process) error {
	return c.decide(p, c.StoreFlags, func(s settings.Settings, which commands.JobSelection) error {
		return commands.RetryJobs(ctx, s, which, p.out)
	})
}

type jobsDropCmd struct {
	settings.StoreFlags `embed:""`
	jobFlags            `embed:""`
}

// Run deletes dead jobs.
func (c *jobsDropCmd) Run(ctx context.Context, p *process) error {
	return c.decide(p, c.StoreFlags, func(s settings.Settings, which commands.JobSelection) error {
		return commands.DropJobs(ctx, s, which, p.out)
	})
}
