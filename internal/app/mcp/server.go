// Package mcp serves the Model Context Protocol, so that AI assistants can look up data in a
// running service: customers, their plan, usage, invoices and problems. It uses the public API with
// an API key and has only the permissions of that key. It changes nothing unless writes are
// allowed.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config configures the server.
type Config struct {
	URL         *url.URL // URL of the service, without /api/v1
	Key         string   // an API key of the platform or of one tenant
	AllowWrites bool     // whether to offer tools that change data
	Version     string   // version of the program
}

// maxResult bounds the JSON of a result, in bytes, because a model reads all of it.
const maxResult = 64 << 10

var errLarge = errors.New("the result is too large: request fewer entries with per_page, or narrow the query")

// object is a JSON object of the API.
type object = map[string]any

// instructions describe the service to a model.
const instructions = `Tenantry is the billing and accounts backend of a software product. A tenant is a customer: an organization with members, a plan, a subscription, usage and invoices.
Begin with find_tenants to learn a tenant's id, then use the id with the other tools. Fields ending in _cents are in the smallest unit of their currency. Times are UTC.`

// New returns an MCP server.
func New(c Config) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "tenantry", Title: "Tenantry", Version: c.Version}, &sdk.ServerOptions{Instructions: instructions})
	t := tools{newService(c.URL, c.Key, c.Version)}
	addReadTool(server, "find_tenants", "Find tenants by part of their name. Returns the newest tenants without a search.", t.findTenants)
	addReadTool(server, "show_tenant", "Show a tenant: details, owner, plan, subscription, seats and entitlements.", t.showTenant)
	addReadTool(server, "list_members", "List a tenant's members with their roles, and its invitations.", t.listMembers)
	addReadTool(server, "show_usage", "Show a tenant's usage in the current period with quotas and estimated cost. With a meter, also shows usage over time.", t.showUsage)
	addReadTool(server, "list_invoices", "List a tenant's invoices, newest first.", t.listInvoices)
	addReadTool(server, "show_invoice", "Show an invoice with its lines.", t.showInvoice)
	addReadTool(server, "list_plans", "List plans with their prices, and whether the tenant can select each plan.", t.listPlans)
	addReadTool(server, "preview_plan_change", "Show the cost of a plan change for a tenant. Does not change anything.", t.previewChange)
	addReadTool(server, "what_failed", "Show the problems of a tenant: failed and pending payments, open invoices and reached quotas.", t.listFailures)
	if c.AllowWrites {
		write(server, "record_usage", "Record usage of a meter for a tenant. Counts towards quotas and the bill, and cannot be undone. Events with the same idempotency_key are counted once.", t.recordUsage)
	}
	return server
}

// Serve serves an assistant over standard input and output until ctx or the input ends.
func Serve(ctx context.Context, c Config) error {
	err := New(c).Run(ctx, &sdk.StdioTransport{})
	if errors.Is(err, context.Canceled) { // stopped by a signal
		return nil
	}
	return err
}

// addReadTool adds a read-only tool.
func addReadTool[In any](server *sdk.Server, name, description string, do func(context.Context, In) (object, error)) {
	add(server, name, description, &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)},
		func(ctx context.Context, in In, _ json.RawMessage) (object, error) { return do(ctx, in) })
}

// write adds a tool that changes data. A call with a known idempotency key changes nothing. The
// tool also receives its arguments as raw JSON.
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
