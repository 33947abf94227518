package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// historyLength is the number of events on a detail page.
const historyLength = 30

func (d *Dashboard) customer(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	cu, err := customers.All.Find(ctx, st.Q, r.PathValue("id"))
	if err != nil {
		return err
	}
	who := customerCell(cu)
	f.Title, f.Here, f.Up = who.Text, "Customers", &theme.Link{Text: "Customers", Href: Path + "/customers"}
	part := &detailPart{ID: cu.ID}
	f.Detail = part
	if cu.Deleted {
		part.Note = "This customer was deleted."
	}
	created := momentAt(cu.Created, st.Now)
	part.Facts = []fact{{Label: "Email", Text: stringOrEmpty(cu.Email)}, {Label: "Created", When: &created}, {Label: "Payment method", Text: "None"}}
	if id := cu.InvoiceSettings.DefaultPaymentMethod; id != nil {
		pm, err := customers.PaymentMethods.Find(ctx, st.Q, *id)
		if err != nil {
			return err
		}
		part.Facts[2].Text = pm.Describe()
	}
	if cu.Balance != 0 && cu.Currency != nil {
		part.Facts = append(part.Facts, fact{Label: "Balance", Text: money(cu.Balance, *cu.Currency)})
	}
	if cu.Delinquent {
		part.Status = cell{Mark: "bad", Text: "Payment overdue"}
	}
	part.Facts = append(part.Facts, clockFact(cu.TestClock)...)
	part.Facts = append(part.Facts, metadataFacts(cu.Metadata)...)
	subs, err := subscriptions.All.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ?`, cu.ID)
	if err != nil {
		return err
	}
	held, err := subscriptionTable(ctx, st, subs, false)
	if err != nil {
		return err
	}
	bills, _, err := invoices.All.FindNewest(ctx, st.Q, perPage, "", `doc ->> '$.customer' = ?`, cu.ID)
	if err != nil {
		return err
	}
	billed := invoiceTable(st, bills, false)
	part.Sections = []section{
		{Title: "Subscriptions", Table: held, Empty: "No subscriptions."}, {Title: "Invoices", Table: billed, Empty: "No invoices."},
	}
	part.Happened, err = d.history(ctx, st, cu.ID)
	return err
}

func (d *Dashboard) subscription(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	sub, err := subscriptions.All.Find(ctx, st.Q, r.PathValue("id"))
	if err != nil {
		return err
	}
	items, err := itemsOf(ctx, st, sub)
	if err != nil {
		return err
	}
	who, err := personOf(ctx, st, sub.Customer)
	if err != nil {
		return err
	}
	f.Title, f.Here, f.Up = items.Text, "Subscriptions", &theme.Link{Text: "Subscriptions", Href: Path + "/subscriptions"}
	start, end := sub.Period()
	begun := momentAt(sub.StartDate, st.Now)
	part := &detailPart{ID: sub.ID, Status: statusOf(sub), Facts: []fact{
		{Label: "Customer", Text: who.Text, Href: hrefOf(sub.Customer)},
		{Label: "Price", Text: items.Second},
		{Label: "Period", Text: form.Day(start) + " – " + form.Day(end)},
		{Label: "Started", When: &begun},
	}}
	f.Detail = part
	if sub.PendingUpdate != nil {
		expires := momentAt(sub.PendingUpdate.ExpiresAt, st.Now)
		part.Facts = append(part.Facts, fact{Label: "Pending change expires", When: &expires})
	}
	part.Facts = append(part.Facts, clockFact(sub.TestClock)...)
	part.Facts = append(part.Facts, metadataFacts(sub.Metadata)...)
	bills, _, err := invoices.All.FindNewest(ctx, st.Q, perPage, "", `doc ->> '$.parent.subscription_details.subscription' = ?`, sub.ID)
	if err != nil {
		return err
	}
	billed := invoiceTable(st, bills, false)
	part.Sections = []section{{Title: "Invoices", Table: billed, Empty: "No invoices."}}
	if part.Happened, err = d.history(ctx, st, sub.ID); err != nil {
		return err
	}
	part.Body, err = prettyJSON(sub)
	return err
}

func (d *Dashboard) invoice(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	in, err := invoices.All.Find(ctx, st.Q, r.PathValue("id"))
	if err != nil {
		return err
	}
	f.Title, f.Here, f.Up = "Draft", "Invoices", &theme.Link{Text: "Invoices", Href: Path + "/invoices"}
	sub, created := in.SubscriptionID(), momentAt(in.Created, st.Now)
	part := &detailPart{ID: in.ID, Status: invoiceStatus(in), Facts: []fact{
		{Label: "Customer", Text: stringOrEmpty(in.CustomerName), Href: hrefOf(in.Customer)},
		{Label: "Subscription", Text: shortID(sub), Href: hrefOf(sub), Mono: true},
		{Label: "Amount due", Text: money(in.AmountDue, in.Currency)},
		{Label: "Amount paid", Text: money(in.AmountPaid, in.Currency)},
		{Label: "Created", When: &created},
	}}
	f.Detail = part
	if in.Number != nil {
		f.Title = "Invoice " + *in.Number
		if in.Status == invoices.StatusOpen {
			part.Actions = append(part.Actions, action{Text: "Open payment page", Href: invoices.PagePath(in.ID)})
		}
		part.Actions = append(part.Actions, action{Text: "PDF", Href: invoices.PDFPath(in.ID)})
	}
	if in.NextPaymentAttempt != nil && in.Status == invoices.StatusOpen {
		next := momentAt(*in.NextPaymentAttempt, st.Now)
		part.Facts = append(part.Facts, fact{Label: "Next attempt", When: &next})
	}
	part.Facts = append(part.Facts, clockFact(in.TestClock)...)
	lines := table{Columns: []string{"Description", "Period", "Amount"}}
	for _, l := range in.Lines.Data {
		lines.Rows = append(lines.Rows, row{Cells: []cell{
			{Label: "Description", Text: l.Description},
			{Label: "Period", Text: form.Day(l.Period.Start) + " – " + form.Day(l.Period.End)},
			{Label: "Amount", Text: money(l.Amount, in.Currency), Right: true},
		}})
	}
	total := fmt.Sprintf("Lines, %s total", money(in.Total, in.Currency))
	part.Sections = []section{{Title: total, Table: lines, Empty: "No lines."}}
	if part.Happened, err = d.history(ctx, st, in.ID); err != nil {
		return err
	}
	part.Body, err = prettyJSON(in)
	return err
}

func (d *Dashboard) event(ctx context.Context, st *kernel.Step, r *http.Request, f *frame) error {
	e, err := kernel.Events.Find(ctx, st.Q, r.PathValue("id"))
	if err != nil {
		return err
	}
	h, err := d.newEventView(ctx, st, e)
	if err != nil {
		return err
	}
	f.Title, f.Here, f.Up = e.Type, "Events", &theme.Link{Text: "Events", Href: Path + "/events"}
	part := &detailPart{ID: e.ID, Status: cell{Mark: h.Mark, Text: h.MarkSay}, Open: true, Facts: []fact{
		{Label: "Object", Text: h.ObjectID, Href: h.AboutHref, Mono: true}, {Label: "Time", When: &h.When},
	}}
	f.Detail = part
	if h.About != h.ObjectID {
		part.Facts = append(part.Facts, fact{Label: "Customer", Text: h.About, Href: h.CustomerHref})
	}
	part.Actions = []action{{Text: "Resend event", Href: Path + "/events/" + e.ID + "/resend", Post: true}}
	if id := e.Request.ID; id != nil {
		part.Facts = append(part.Facts, fact{Label: "Request", Text: shortID(*id), Mono: true})
	}
	waiting, err := kernel.WaitingDeliveries(ctx, st.Q, e.ID)
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		t := table{Columns: []string{"Endpoint", "Attempts"}}
		for _, w := range waiting {
			t.Rows = append(t.Rows, row{Cells: []cell{{Label: "Endpoint", Text: w.URL, Mono: true}, {Label: "Attempts", Text: strconv.Itoa(w.Attempts), Right: true}}})
		}
		part.Sections = []section{{Title: "Pending deliveries", Table: t}}
	}
	part.Body, err = prettyJSON(e)
	return err
}

// history returns the latest events about an object or a customer.
func (d *Dashboard) history(ctx context.Context, st *kernel.Step, id string) ([]eventView, error) {
	found, _, err := kernel.Events.FindNewest(ctx, st.Q, historyLength, "", `(doc ->> '$.data.object.id' = ? OR doc ->> '$.data.object.customer' = ?)`, id, id)
	if err != nil {
		return nil, err
	}
	all, err := d.newEventViews(ctx, st, found)
	for i := range all {
		all[i].About = all[i].ObjectID // the page already shows the customer
	}
	return all, err
}

func (d *Dashboard) newEventViews(ctx context.Context, st *kernel.Step, found []*kernel.Event) ([]eventView, error) {
	all := make([]eventView, 0, len(found))
	for _, e := range found {
		h, err := d.newEventView(ctx, st, e)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// newEventView describes an event: its object, customer and delivery status.
func (d *Dashboard) newEventView(ctx context.Context, st *kernel.Step, e *kernel.Event) (eventView, error) {
	h := eventView{Type: e.Type, Href: Path + "/events/" + e.ID, When: momentAt(e.Created, st.Now), Mark: "off", MarkSay: "no endpoint"}
	switch {
	case e.PendingWebhooks > 0:
		h.Mark, h.MarkSay = "warn", "not delivered"
	case d.cfg.Hook != "":
		h.Mark, h.MarkSay = "good", "delivered"
	}
	var about struct{ ID, Customer, Name, Email string }
	if err := json.Unmarshal(e.Data.Object, &about); err != nil {
		about.Customer = "" // the customer is expanded
	}
	h.ObjectID, h.AboutHref = shortID(about.ID), hrefOf(about.ID)
	h.About = h.ObjectID
	if about.Customer != "" {
		who, err := personOf(ctx, st, about.Customer)
		if err != nil && !errors.Is(err, kernel.ErrNotFound) {
			return h, err
		}
		if err == nil {
			h.About, h.CustomerHref = who.Text, hrefOf(about.Customer)
		}
	} else if about.Name != "" {
		h.About, h.CustomerHref = about.Name, h.AboutHref
	}
	return h, nil
}

// clockFact returns the test clock of an object, if it has one.
func clockFact(id *string) []fact {
	if id == nil {
		return nil
	}
	return []fact{{Label: "Test clock", Text: shortID(*id), Mono: true}}
}

func metadataFacts(metadata map[string]string) []fact {
	var all []fact
	for _, key := range sortedKeys(metadata) {
		all = append(all, fact{Label: key, Text: metadata[key], Mono: true})
	}
	return all
}

// prettyJSON formats an object as indented JSON.
func prettyJSON(o any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(o); err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}
	return text.String(), nil
}
