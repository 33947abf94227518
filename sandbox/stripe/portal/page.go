package portal

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed portal.html
var pageHTML string

// Page is the hosted page where a customer manages subscriptions.
type Page struct {
	engine *kernel.Engine
	brand  theme.Brand
	page   *template.Template
}

// NewPage returns the page for the sessions of e.
func NewPage(e *kernel.Engine, b theme.Brand) *Page {
	return &Page{engine: e, brand: b, page: pages.Parse(pageHTML)}
}

// pageView is the data of the page's template.
type pageView struct {
	pages.Reader
	Title, Note   string
	Customer      string // empty if only the title and the note are shown
	Flow          bool   // whether only the payment method is shown
	Action        string // the target of the forms, without the last path segment
	Subscriptions []shownSubscription
	Card          string
	Invoices      []shownInvoice
	Typed, Error  string
	Back          *pages.BackLink
}

type shownSubscription struct {
	ID, FormID     string // FormID distinguishes the forms of several subscriptions
	Items          []shownItem
	Status, Period string
	Note           string
	Running        bool // whether the subscription can be canceled and resumed
	Ending         bool
}

type shownItem struct {
	Name     string
	Quantity int64
	Price    string
}

// shownInvoice is a row of the invoice list. Pay is the URL of the payment page of an open invoice.
type shownInvoice struct{ Number, Date, Amount, Status, PDF, Pay string }

// errForeignSubscription means that the subscription in a form does not belong to the customer.
var errForeignSubscription = errors.New("the customer does not have this subscription")

// Show handles GET.
func (p *Page) Show(w http.ResponseWriter, r *http.Request) {
	if err := p.engine.Settle(r.Context()); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	p.write(w, r, http.StatusOK, "", "")
}

// Use returns the handler of one of the page's forms. It calls act and then redirects to the page.
func (p *Page) Use(act func(ctx context.Context, st *kernel.Step, session *Session, form formValues) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if err := p.engine.Settle(ctx); err != nil {
			pages.Fail(w, r, p.engine.Log(), err)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, form.MaxBody)
		open, page := false, ""
		err := p.engine.Write(ctx, func(ctx context.Context, st *kernel.Step) error {
			session, _, err := findSession(ctx, st, r.PathValue("id"))
			if errors.Is(err, kernel.ErrNotFound) {
				return nil // write renders the error
			}
			if err != nil || session.isExpired(st.Now) {
				return err
			}
			open, page = true, cmp.Or(session.destination(), Path(session.ID))
			return act(ctx, st, session, r.PostFormValue)
		})
		var typed cardError
		switch {
		case errors.Is(err, customers.ErrDeclined):
			p.write(w, r, http.StatusPaymentRequired, r.PostFormValue("card_number"), "Your card was declined. Try another card.")
		case errors.As(err, &typed):
			p.write(w, r, http.StatusUnprocessableEntity, r.PostFormValue("card_number"), string(typed))
		case errors.Is(err, errForeignSubscription):
			reader := pages.NewReader(p.brand, r)
			p.writePage(w, r, http.StatusNotFound, pageView{
				Reader: reader, Title: reader.T("This subscription does not exist"), Note: reader.T("Open this page again from the previous page."),
			}, nil)
		case err != nil:
			pages.Fail(w, r, p.engine.Log(), err)
		case !open:
			p.write(w, r, http.StatusOK, "", "")
		default:
			w.Header().Set("Cache-Control", "no-store")
			http.Redirect(w, r, page, http.StatusSeeOther)
		}
	}
}

// formValues returns the value of a form field.
type formValues func(field string) string

// findSession returns a session and its customer. It returns kernel.ErrNotFound if the session does
// not exist or the customer was deleted.
func findSession(ctx context.Context, st *kernel.Step, id string) (*Session, *customers.Customer, error) {
	if err := st.UseTestClock(ctx, id); err != nil {
		return nil, nil, err
	}
	session, err := Sessions.Find(ctx, st.Q, id)
	if err != nil {
		return nil, nil, err
	}
	cu, err := customers.All.Find(ctx, st.Q, session.Customer)
	if err != nil {
		return nil, nil, err
	}
	if cu.Deleted {
		return nil, nil, kernel.ErrNotFound
	}
	return session, cu, nil
}

// write renders the customer's page. status applies if the session is valid.
func (p *Page) write(w http.ResponseWriter, r *http.Request, status int, typed, problem string) {
	st := p.engine.Read()
	session, cu, err := findSession(r.Context(), st, r.PathValue("id"))
	switch {
	case errors.Is(err, kernel.ErrNotFound):
		reader := pages.NewReader(p.brand, r)
		p.writePage(w, r, http.StatusNotFound, pageView{
			Reader: reader, Title: reader.T("This page does not exist"), Note: reader.T("Check the link, or open this page again from the previous page."),
		}, nil)
		return
	case err != nil:
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	reader := pages.NewReader(p.brand, r, localesOf(session, cu)...)
	view := pageView{Reader: reader, Title: reader.T("This link has expired"), Note: reader.T("Open this page again from the previous page.")}
	if session.ReturnURL != nil {
		view.Back = &pages.BackLink{ID: "return", URL: *session.ReturnURL, Text: reader.T("Go back")}
	}
	if session.isExpired(st.Now) {
		p.writePage(w, r, http.StatusGone, view, session)
		return
	}
	view.Title, view.Note, view.Flow = reader.T("Billing"), "", session.Flow != nil
	view.Action, view.Typed, view.Error = Path(session.ID), typed, reader.T(problem)
	if err := fill(r.Context(), st, &view, cu); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	p.writePage(w, r, status, view, session)
}

// writePage renders a view. session can be nil.
func (p *Page) writePage(w http.ResponseWriter, r *http.Request, status int, view pageView, session *Session) {
	formAction := "'self'"
	if session != nil && session.destination() != "" {
		// Browsers also apply the policy to the redirect after the form.
		if u, err := url.Parse(session.destination()); err == nil {
			formAction += " " + u.Scheme + "://" + u.Host
		}
	}
	pages.Write(w, r, p.engine.Log(), status, p.page, formAction, view)
}

// fill adds the customer's subscriptions, card and invoices to the view.
func fill(ctx context.Context, st *kernel.Step, view *pageView, cu *customers.Customer) error {
	view.Customer = view.T("Customer {id}", "id", cu.ID)
	if cu.Name != nil {
		view.Customer = *cu.Name
	} else if cu.Email != nil {
		view.Customer = *cu.Email
	}
	subs, err := subscriptions.All.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ?`, cu.ID)
	if err != nil {
		return err
	}
	names := subscriptions.ProductNames{}
	card := cu.InvoiceSettings.DefaultPaymentMethod
	for i, sub := range shownSubscriptions(subs) {
		if err := subscriptions.ReadProductNames(ctx, st, sub.Items.Data, names); err != nil {
			return err
		}
		shown := newShownSubscription(view.Reader, sub, names)
		if i > 0 {
			shown.FormID = "-" + sub.ID
		}
		view.Subscriptions = append(view.Subscriptions, shown)
		if sub.DefaultPaymentMethod != nil && sub.IsRunning() {
			card = sub.DefaultPaymentMethod
		}
	}
	if card != nil {
		pm, err := customers.PaymentMethods.Get(ctx, st.Q, *card, "payment_method")
		if err != nil {
			return err
		}
		view.Card = view.method(pm)
	}
	bills, err := invoices.All.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.number' IS NOT NULL`, cu.ID)
	if err != nil {
		return err
	}
	for _, in := range slices.Backward(bills) {
		shown := shownInvoice{
			Number: *in.Number, Date: view.Day(in.Created), Amount: view.Amount(in.Total, in.Currency),
			Status: view.T(strings.ToUpper(in.Status[:1]) + in.Status[1:]), PDF: *in.InvoicePDF,
		}
		if in.Status == invoices.StatusOpen {
			shown.Pay = invoices.PagePath(in.ID)
		}
		view.Invoices = append(view.Invoices, shown)
	}
	return nil
}

// shownSubscriptions returns the subscriptions that have not ended, newest first. If all have
// ended, it returns the last one.
func shownSubscriptions(all []*subscriptions.Subscription) []*subscriptions.Subscription {
	live := slices.DeleteFunc(slices.Clone(all), (*subscriptions.Subscription).IsEnded)
	if len(live) == 0 && len(all) > 0 {
		return all[len(all)-1:]
	}
	slices.Reverse(live) // newest first
	return live
}

// newShownSubscription describes a subscription for display.
func newShownSubscription(reader pages.Reader, sub *subscriptions.Subscription, names subscriptions.ProductNames) shownSubscription {
	start, end := sub.Period()
	shown := shownSubscription{
		ID: sub.ID, Period: reader.Period(start, end), Running: sub.IsRunning(), Ending: sub.CancelAt != nil,
		Status: reader.T(map[string]string{
			subscriptions.StatusActive: "Active", subscriptions.StatusCanceled: "Canceled", subscriptions.StatusIncomplete: "Incomplete",
			subscriptions.StatusIncompleteExpired: "Expired", subscriptions.StatusPastDue: "Past due", subscriptions.StatusPaused: "Paused",
			subscriptions.StatusTrialing: "Trialing", subscriptions.StatusUnpaid: "Unpaid",
		}[sub.Status]),
	}
	for _, item := range sub.Items.Data {
		shown.Items = append(shown.Items, shownItem{names[item.Price.Product], item.Quantity, reader.Price(item.Price)})
	}
	switch {
	case sub.EndedAt != nil:
		shown.Period, shown.Note = "", reader.T("Ended on {date}.", "date", reader.Day(*sub.EndedAt))
	case sub.CancelAt != nil:
		shown.Note = reader.T("Ends on {date}.", "date", reader.Day(*sub.CancelAt))
	case sub.Status == subscriptions.StatusTrialing:
		shown.Note = reader.T("Trial ends on {date}.", "date", reader.Day(end))
	case shown.Running:
		shown.Note = reader.T("Renews on {date}.", "date", reader.Day(end))
	}
	return shown
}

// localesOf returns the preferred languages of a page. The client's choice is first.
func localesOf(session *Session, cu *customers.Customer) []string {
	if session.Locale != nil {
		return append([]string{*session.Locale}, cu.PreferredLocales...)
	}
	return cu.PreferredLocales
}

// method describes a card or an account for display.
func (view *pageView) method(pm *customers.PaymentMethod) string {
	if pm.SepaDebit != nil {
		return view.T("Direct debit from the account ending in {digits}", "digits", pm.SepaDebit.Last4)
	}
	return view.T("Visa ending in {digits}, valid until {month}", "digits", pm.Card.Last4, "month", fmt.Sprintf("%02d/%d", pm.Card.ExpMonth, pm.Card.ExpYear))
}
