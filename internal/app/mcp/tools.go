package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tenantry/tenantry/internal/fault"
)

// tools implements the tools. They return the objects of the API.
type tools struct{ service *service }

type pageOf struct {
	Page    int `json:"page,omitempty" jsonschema:"page number, starting at 1"`
	PerPage int `json:"per_page,omitempty" jsonschema:"entries per page, at most 50; default 10"`
}

// query returns the query parameters of the page.
func (p pageOf) query() url.Values {
	if p.PerPage == 0 {
		p.PerPage = 10
	}
	return url.Values{"page": {strconv.Itoa(max(p.Page, 1))}, "per_page": {strconv.Itoa(min(max(p.PerPage, 1), 50))}}
}

type ofTenant struct {
	Tenant string `json:"tenant" jsonschema:"tenant ID, from find_tenants"`
}

type findTenants struct {
	Search string `json:"search,omitempty" jsonschema:"part of the name"`
	pageOf
}

func (t tools) findTenants(ctx context.Context, in findTenants) (object, error) {
	query := in.query()
	if in.Search != "" {
		query.Set("search", in.Search)
	}
	return t.list(ctx, query, "admin", "tenants")
}

// list reads a list. It removes the links to other pages, because no tool can follow them.
func (t tools) list(ctx context.Context, query url.Values, segments ...string) (object, error) {
	found, err := t.service.get(ctx, query, segments...)
	delete(found, "links")
	return found, err
}

// parts reads several resources of a tenant, each under its key in parts. A missing resource is
// null. If the API key lacks the scope for a resource, its value is the error message.
func (t tools) parts(ctx context.Context, tenant string, parts map[string][]string) (object, error) {
	all := object{}
	for name, segments := range parts {
		found, err := t.service.get(ctx, nil, append([]string{"tenant", tenant}, segments...)...)
		refused, isRefusal := errors.AsType[*refusal](err)
		switch {
		case err == nil:
			all[name] = found["data"]
		case isRefusal && refused.Status == http.StatusNotFound:
			all[name] = nil
		case isRefusal && refused.Code == fault.InsufficientScope:
			all[name] = refused.Error()
		default:
			return nil, err
		}
	}
	return all, nil
}

func (t tools) showTenant(ctx context.Context, in ofTenant) (object, error) {
	tenant, err := t.service.get(ctx, nil, "admin", "tenants", in.Tenant)
	if err != nil {
		return nil, err
	}
	all, err := t.parts(ctx, in.Tenant, map[string][]string{
		"subscription": {"subscription"}, "seats": {"team", "stats"}, "entitlements": {"entitlements"},
	})
	if err != nil {
		return nil, err
	}
	all["tenant"] = tenant["data"]
	return all, nil
}

type membersOf struct {
	ofTenant
	pageOf
}

func (t tools) listMembers(ctx context.Context, in membersOf) (object, error) {
	members, err := t.list(ctx, in.query(), "tenant", in.Tenant, "team", "members")
	if err != nil {
		return nil, err
	}
	invitations, err := t.list(ctx, in.query(), "tenant", in.Tenant, "team", "invitations")
	return object{"members": members, "invitations": invitations}, err
}

type usageOf struct {
	ofTenant
	Meter    string `json:"meter,omitempty" jsonschema:"meter code, for usage over time"`
	Interval string `json:"interval,omitempty" jsonschema:"length of a data point: hour, day or month; default day"`
	From     string `json:"from,omitempty" jsonschema:"first day, such as 2026-11-01; default 30 days ago"`
	To       string `json:"to,omitempty" jsonschema:"day after the last day; default now"`
}

func (t tools) showUsage(ctx context.Context, in usageOf) (object, error) {
	all, err := t.parts(ctx, in.Tenant, map[string][]string{
		"usage": {"usage"}, "quotas": {"usage", "quotas"}, "cost_estimate": {"usage", "cost-estimate"},
	})
	if err != nil || in.Meter == "" {
		return all, err
	}
	query := url.Values{"meter_code": {in.Meter}}
	for name, value := range map[string]string{"interval": in.Interval, "from": in.From, "to": in.To} {
		if value != "" {
			query.Set(name, value)
		}
	}
	series, err := t.service.get(ctx, query, "tenant", in.Tenant, "usage", "series")
	all["series"] = series["data"]
	return all, err
}

type invoicesOf struct {
	ofTenant
	Status string `json:"status,omitempty" jsonschema:"status of the invoices: draft, open, paid, void or uncollectible"`
	pageOf
}

func (t tools) listInvoices(ctx context.Context, in invoicesOf) (object, error) {
	query := in.query()
	if in.Status != "" {
		query.Set("status", in.Status)
	}
	found, err := t.list(ctx, query, "tenant", in.Tenant, "invoices")
	if err != nil {
		return nil, err
	}
	invoices, _ := found["data"].([]any)
	for _, each := range invoices {
		if invoice, ok := each.(object); ok { // show_invoice returns the details
			delete(invoice, "lines")
			delete(invoice, "billing_info")
		}
	}
	return found, nil
}

type invoiceOf struct {
	ofTenant
	Invoice string `json:"invoice" jsonschema:"invoice ID, from list_invoices"`
}

func (t tools) showInvoice(ctx context.Context, in invoiceOf) (object, error) {
	return t.service.get(ctx, nil, "tenant", in.Tenant, "invoices", in.Invoice)
}

func (t tools) listPlans(ctx context.Context, in ofTenant) (object, error) {
	return t.service.get(ctx, nil, "tenant", in.Tenant, "plans")
}

type change struct {
	ofTenant
	Plan  string `json:"plan" jsonschema:"ID of the new plan, from list_plans"`
	Seats int    `json:"seats,omitempty" jsonschema:"number of seats; default the current number"`
}

func (t tools) previewChange(ctx context.Context, in change) (object, error) {
	query := url.Values{"new_plan_id": {in.Plan}}
	if in.Seats != 0 {
		query.Set("quantity", strconv.Itoa(in.Seats))
	}
	return t.service.get(ctx, query, "tenant", in.Tenant, "subscription", "preview-change")
}

func (t tools) listFailures(ctx context.Context, in ofTenant) (object, error) {
	all, err := t.parts(ctx, in.Tenant, map[string][]string{"subscription": {"subscription"}, "quotas": {"usage", "quotas"}})
	if err != nil {
		return nil, err
	}
	open, err := t.listInvoices(ctx, invoicesOf{ofTenant: in, Status: "open"})
	if err != nil {
		return nil, err
	}
	return object{
		"subscription": subscriptionProblem(all["subscription"]), "open_invoices": open["data"], "quotas": quotasNearLimit(all["quotas"]),
	}, nil
}

// subscriptionProblem returns only the fields of a subscription that can indicate a problem.
func subscriptionProblem(subscription any) any {
	sub, ok := subscription.(object)
	if !ok {
		return subscription
	}
	trouble := object{}
	for _, name := range []string{"status", "payment_action", "cancel_at_period_end", "canceled_at", "current_period_end", "pending_change"} {
		trouble[name] = sub[name]
	}
	return trouble
}

// quotasNearLimit returns the meters whose quota is almost or completely used.
func quotasNearLimit(quotas any) any {
	q, ok := quotas.(object)
	if !ok {
		return quotas
	}
	found := []any{}
	meters, _ := q["meters"].([]any)
	for _, each := range meters {
		if meter, ok := each.(object); ok && meter["status"] != "ok" {
			found = append(found, meter)
		}
	}
	return found
}

type recording struct {
	ofTenant
	Meter          string  `json:"meter" jsonschema:"meter code"`
	Quantity       float64 `json:"quantity" jsonschema:"quantity, with up to six decimal places"`
	IdempotencyKey string  `json:"idempotency_key" jsonschema:"unique key for this event; events with the same key are counted once"`
}

// recordUsage sends the quantity with all its digits. The SDK parses numbers as floats, which have
// fewer digits than a quantity.
func (t tools) recordUsage(ctx context.Context, in recording, arguments json.RawMessage) (object, error) {
	var exact struct {
		Quantity json.RawMessage `json:"quantity"`
	}
	if err := json.Unmarshal(arguments, &exact); err != nil {
		return nil, err
	}
	return t.service.post(ctx, object{
		"meter_code": in.Meter, "quantity": exact.Quantity, "idempotency_key": in.IdempotencyKey,
	}, "tenant", in.Tenant, "usage")
}
