package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
)

type hooksCmd struct {
	Listen hooksListenCmd `cmd:"" help:"Receive webhooks on this machine. Verifies, prints and optionally forwards them. Does not need the service or its database."`
}

type hooksListenCmd struct {
	Addr      string   `placeholder:"HOST:PORT" default:"127.0.0.1:4400" help:"Address to listen on. Default: 127.0.0.1:4400."`
	Secret    []string `env:"TENANTRY_HOOKS_SECRET" sep:"none" placeholder:"SECRET" help:"Secret of the endpoint (whsec_…). Can be repeated. Default: signatures are not checked."`
	ForwardTo string   `placeholder:"URL" help:"URL to forward messages to, with their headers. Its response is returned. Default: none, the response is 204."`
	JSON      bool     `name:"json" help:"Output one JSON object per line: {received_at, id, type, tenant_id, signature, reason, seen, answer, error, body}."`
}

// Run receives webhooks until the context ends.
func (c *hooksListenCmd) Run(ctx context.Context, p *process) error {
	return commands.ListenForHooks(ctx, commands.HookListener{Addr: c.Addr, Secrets: c.Secret, ForwardTo: c.ForwardTo, JSON: c.JSON}, p.out)
}
