// Package mcp lets an assistant that speaks the Model Context Protocol look things up
// in a running Tenantry: who a customer is, what they pay for, use and owe, and what
// went wrong. It is a client of the public API like any other and sees what its API key
// may see. It changes nothing unless it is told that it may.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config says which service is asked, and what may be done with it.
type Config struct {
	URL         *url.URL // of the service, without /api/v1
	Key         string   // an API key of the platform, or of one tenant
	AllowWrites bool     // whether tools that change something are offered
	Version     string   // of the program
}

// maxResult is how large a result may be, in bytes of JSON: a model reads all of it.
const maxResult = 64 << 10

var errLarge = errors.New("the result is too large: ask for fewer entries with per_page, or for something narrower")

// object is a JSON object as the API has it.
type object = map[string]any

// instructions tell a model what it has before it.
const instructions = `Tenantry is the billing and accounts backend of a software product. A tenant is a customer: an organization with members, a plan, a subscription, usage and invoices.
Begin with find_tenants to learn a tenant's id, then use the id with the other tools. Fields ending in _cents are in the smallest unit of their currency. Times are UTC.`

// New returns a server with the tools.
func New(c Config) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "tenantry", Title: "Tenantry", Version: c.Version}, &sdk.ServerOptions{Instructions: instructions})
	t := tools{newService(c.URL, c.Key, c.Version)}
	addReadTool(server, "find_tenants", "Find tenants by a part of their name; the newest ones when nothing is searched for.", t.findTenants)
	addReadTool(server, "show_tenant", "Show one tenant: its details, owner, plan and subscription, seats and what the plan includes.", t.showTenant)
	addReadTool(server, "list_members", "List who is in a tenant's team with their roles, and who is invited.", t.listMembers)
	addReadTool(server, "show_usage", "Show what a tenant uses in the current period against its quotas, and what it will cost; with a meter also how it went over time.", t.showUsage)
	addReadTool(server, "list_invoices", "List a tenant's invoices, the newest first.", t.listInvoices)
	addReadTool(server, "show_invoice", "Show one invoice with all its lines.", t.showInvoice)
	addReadTool(server, "list_plans", "List the plans with their prices, and whether the tenant can change to each.", t.listPlans)
	addReadTool(server, "preview_plan_change", "Show what a change to another plan would cost the tenant now. Nothing is changed.", t.previewChange)
	addReadTool(server, "what_failed", "Show what is wrong with a tenant: payments that failed or wait, invoices that are open, quotas that are reached.", t.listFailures)
	if c.AllowWrites {
		write(server, "record_usage", "Record usage of a meter for a tenant. It counts towards quotas and the bill and cannot be taken back. The same idempotency_key counts once.", t.recordUsage)
	}
	return server
}

// Serve speaks with an assistant over standard input and output until ctx or the input
// ends.
func Serve(ctx context.Context, c Config) error {
	err := New(c).Run(ctx, &sdk.StdioTransport{})
	if errors.Is(err, context.Canceled) { // asked to stop, by a signal
		return nil
	}
	return err
}

// addReadTool adds a tool that changes nothing.
func addReadTool[In any](server *sdk.Server, name, description string, do func(context.Context, In) (object, error)) {
	add(server, name, description, &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)},
		func(ctx context.Context, in In, _ json.RawMessage) (object, error) { return do(ctx, in) })
}

// write adds a tool that changes something, once for each idempotency key. It also gets its
// arguments as they were sent.
func write[In any](server *sdk.Server, name, description string, do func(context.Context, In, json.RawMessage) (object, error)) {
	add(server, name, description, &sdk.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}, do)
}

func add[In any](server *sdk.Server, name, description string, hints *sdk.ToolAnnotations, do func(context.Context, In, json.RawMessage) (object, error)) {
	sdk.AddTool(server, &sdk.Tool{Name: name, Description: description, Annotations: hints},
		func(ctx context.Context, call *sdk.CallToolRequest, in In) (*sdk.CallToolResult, object, error) {
			found, err := do(ctx, in, call.Params.Arguments)
			if err != nil {
				return nil, nil, err
			}
			text, err := json.Marshal(found)
			if err != nil {
				return nil, nil, err
			}
			if len(text) > maxResult {
				return nil, nil, errLarge
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, found, nil
		})
}
