package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
)

type hooksCmd struct {
	Listen hooksListenCmd `cmd:"" help:"Take webhooks on this machine: verify, print and, if wanted, pass on what comes. It needs neither the service nor its database."`
}

type hooksListenCmd struct {
	Addr      string   `placeholder:"HOST:PORT" default:"127.0.0.1:4400" help:"Address to listen on. Default: 127.0.0.1:4400."`
	Secret    []string `env:"TENANTRY_HOOKS_SECRET" sep:"none" placeholder:"SECRET" help:"Secret of the endpoint, whsec_…. Can be given several times. Default: none, signatures are not checked."`
	ForwardTo string   `placeholder:"URL" help:"Where messages go on to, with their headers; its answer is the answer. Default: nowhere, the answer is 204."`
	JSON      bool     `name:"json" help:"Write an object a line in place of text: {received_at, id, type, tenant_id, signature, reason, seen, answer, error, body}."`
}

// Run receives webhooks until the context ends.
func (c *hooksListenCmd) Run(ctx context.Context, p *process) error {
	return commands.ListenForHooks(ctx, commands.HookListener{Addr: c.Addr, Secrets: c.Secret, ForwardTo: c.ForwardTo, JSON: c.JSON}, p.out)
}
