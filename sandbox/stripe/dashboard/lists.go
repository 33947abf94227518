package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// perPage is the number of rows per page.
const perPage = 25

// olderHref returns the URL of the next page, which starts after the row last. It returns "" on the
// last page.
func olderHref(r *http.Request, more bool, last string) string {
	if !more {
		return ""
	}
	q := r.URL.Query()
	q.Set("before", last)
	return r.URL.Path + "?" + q.Encode()
}

// filterLinks returns the filters of a list for a query parameter.
func filterLinks(r *http.Request, key string, values ...string) []chip {
	now := r.URL.Query().Get(key)
	all := []chip{{Text: "All", Href: r.URL.Path, On: now == ""}}
	for _, v := range values {
		text := v
		if !strings.Contains(v, ".") { // not an event type
			text = toWords(v)
		}
		all = append(all, chip{Text: text, Href: r.URL.Path + "?" + url.Values{key: {v}}.Encode(), On: now == v})
	}
	return all
}

func (d *Dashboard) customers(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	f.Title, f.Here = "Customers", "Customers"
	found, more, err := customers.All.FindNewest(ctx, st.Q, perPage, r.FormValue("before"), `doc ->> '$.deleted' IS NULL`)
	if err != nil {
		return err
	}
	f.List = &listPart{
		Intro: "All customers, newest first.", Empty: "No customers yet.", Example: d.curl("/v1/customers", "-d", "email=ada@example.test"),
		Table: table{Columns: []string{"Customer", "Subscriptions", "Balance", "Created"}},
	}
	for _, cu := range found {
		subs, err := subscriptions.All.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired')`, cu.ID)
		if err != nil {
			return err
		}
		status := cell{Label: "Subscriptions", Text: "None", Mark: "off"}
		if len(subs) > 0 {
			status = statusOf(subs[len(subs)-1])
			status.Label = "Subscriptions"
		}
		when, balance := momentAt(cu.Created, st.Now), "–"
		if cu.Balance != 0 && cu.Currency != nil {
			balance = money(cu.Balance, *cu.Currency)
		}
		f.List.Table.Rows = append(f.List.Table.Rows, row{Href: hrefOf(cu.ID), Cells: []cell{
			customerCell(cu), status, {Label: "Balance", Text: balance, Right: true}, {Label: "Created", When: &when},
		}})
	}
	if len(found) > 0 {
		f.List.Older = olderHref(r, more, found[len(found)-1].ID)
	}
	return nil
}

// customerCell shows a customer.
func customerCell(cu *customers.Customer) cell {
	name, second := cu.ID, ""
	if cu.Email != nil {
		name, second = *cu.Email, shortID(cu.ID)
	}
	if cu.Name != nil {
		name, second = *cu.Name, name
	}
	c := cell{Label: "Customer", Text: name, Second: second, Strong: true}
	c.Person, c.Hue = initials(name, cu.ID)
	return c
}

// personOf shows the customer with the id, including deleted customers.
func personOf(ctx context.Context, st *kernel.Step, id string) (cell, error) {
	cu, err := customers.All.Find(ctx, st.Q, id)
	if err != nil {
		return cell{}, err
	}
	return customerCell(cu), nil
}

func (d *Dashboard) subscriptions(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	f.Title, f.Here = "Subscriptions", "Subscriptions"
	status := r.FormValue("status")
	found, more, err := subscriptions.All.FindNewest(ctx, st.Q, perPage, r.FormValue("before"), `(? = '' OR doc ->> '$.status' = ?)`, status, status)
	if err != nil {
		return err
	}
	f.List = &listPart{
		Intro: "All subscriptions, newest first.", Empty: "No subscriptions.",
		Chips: filterLinks(r, "status", subscriptions.StatusActive, subscriptions.StatusTrialing, subscriptions.StatusPastDue, subscriptions.StatusCanceled),
	}
	if f.List.Table, err = subscriptionTable(ctx, st, found, true); err != nil {
		return err
	}
	if len(found) > 0 {
		f.List.Older = olderHref(r, more, found[len(found)-1].ID)
	}
	return nil
}

// subscriptionTable lists subscriptions. who adds the customer column.
func subscriptionTable(ctx context.Context, st *kernel.Step, subs []*subscriptions.Subscription, who bool) (table, error) {
	t := table{Columns: []string{"Customer", "Items", "Status", "Next"}}
	if !who {
		t.Columns = t.Columns[1:]
	}
	for _, sub := range subs {
		var cells []cell
		if who {
			c, err := personOf(ctx, st, sub.Customer)
			if err != nil {
				return t, err
			}
			cells = append(cells, c)
		}
		items, err := itemsOf(ctx, st, sub)
		if err != nil {
			return t, err
		}
		next := cell{Label: "Next", Text: "–"}
		if _, end := sub.Period(); sub.IsRunning() {
			when := momentAt(end, st.Now)
			next = cell{Label: "Next", When: &when}
		}
		t.Rows = append(t.Rows, row{Href: hrefOf(sub.ID), Cells: append(cells, items, statusOf(sub), next)})
	}
	return t, nil
}

// itemsOf shows the items of a subscription.
func itemsOf(ctx context.Context, st *kernel.Step, sub *subscriptions.Subscription) (cell, error) {
	names := subscriptions.ProductNames{}
	if err := subscriptions.ReadProductNames(ctx, st, sub.Items.Data, names); err != nil {
		return cell{}, err
	}
	var shown []string
	for _, item := range sub.Items.Data {
		name := names[item.Price.Product]
		if item.Quantity > 1 {
			name += " × " + strconv.FormatInt(item.Quantity, 10)
		}
		shown = append(shown, name)
	}
	return cell{Label: "Items", Text: strings.Join(shown, ", "), Second: catalog.DescribePrice(sub.Items.Data[0].Price)}, nil
}

func (d *Dashboard) invoices(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	f.Title, f.Here = "Invoices", "Invoices"
	status := r.FormValue("status")
	found, more, err := invoices.All.FindNewest(ctx, st.Q, perPage, r.FormValue("before"), `(? = '' OR doc ->> '$.status' = ?)`, status, status)
	if err != nil {
		return err
	}
	f.List = &listPart{
		Intro: "All invoices, newest first.", Empty: "No invoices.",
		Chips: filterLinks(r, "status", invoices.StatusDraft, invoices.StatusOpen, invoices.StatusPaid, invoices.StatusVoid, invoices.StatusUncollectible),
	}
	f.List.Table = invoiceTable(st, found, true)
	if len(found) > 0 {
		f.List.Older = olderHref(r, more, found[len(found)-1].ID)
	}
	return nil
}

// invoiceTable lists invoices. who adds the customer column.
func invoiceTable(st *kernel.Step, bills []*invoices.Invoice, who bool) table {
	t := table{Columns: []string{"Invoice", "Customer", "Status", "Amount", "Created"}}
	if !who {
		t.Columns = []string{"Invoice", "Status", "Amount", "Created"}
	}
	for _, in := range bills {
		number := "Draft"
		if in.Number != nil {
			number = *in.Number
		}
		cells := []cell{{Label: "Invoice", Text: number, Second: reasonText(in), Strong: true}}
		if who {
			cells = append(cells, cell{Label: "Customer", Text: cmp.Or(stringOrEmpty(in.CustomerName), stringOrEmpty(in.CustomerEmail), shortID(in.Customer))})
		}
		when := momentAt(in.Created, st.Now)
		t.Rows = append(t.Rows, row{Href: hrefOf(in.ID), Cells: append(cells, invoiceStatus(in),
			cell{Label: "Amount", Text: money(in.AmountDue, in.Currency), Right: true}, cell{Label: "Created", When: &when})})
	}
	return t
}

// reasonText describes the billing reason of an invoice.
func reasonText(in *invoices.Invoice) string {
	return map[string]string{
		invoices.ReasonCreate: "First invoice", invoices.ReasonCycle: "Renewal", invoices.ReasonUpdate: "Change",
	}[in.BillingReason]
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (d *Dashboard) events(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	f.Title, f.Here = "Events", "Events"
	kind, undelivered := r.FormValue("type"), r.FormValue("delivery") == "waiting"
	found, more, err := kernel.Events.FindNewest(ctx, st.Q, 2*perPage, r.FormValue("before"),
		`(? = '' OR doc ->> '$.type' = ?) AND (NOT ? OR doc ->> '$.pending_webhooks' > 0)`, kind, kind, undelivered)
	if err != nil {
		return err
	}
	f.List = &listPart{Intro: "Events as sent to webhook endpoints, newest first.", Empty: "No events yet.", Table: table{Columns: []string{"Type", "Object", "Delivery", "Time"}}}
	f.List.Chips = append(filterLinks(r, "delivery", "waiting"), filterLinks(r, "type", "invoice.paid", "invoice.payment_failed", "customer.subscription.updated", "checkout.session.completed")[1:]...)
	f.List.Chips[0].On = kind == "" && !undelivered
	for _, e := range found {
		h, err := d.newEventView(ctx, st, e)
		if err != nil {
			return err
		}
		f.List.Table.Rows = append(f.List.Table.Rows, row{Href: h.Href, Cells: []cell{
			{Label: "Type", Text: h.Type, Mono: true},
			{Label: "Object", Text: h.About, Mono: h.About == h.ObjectID},
			{Label: "Delivery", Mark: h.Mark, Text: h.MarkSay},
			{Label: "Time", When: &h.When},
		}})
	}
	if len(found) > 0 {
		f.List.Older = olderHref(r, more, found[len(found)-1].ID)
	}
	return nil
}
