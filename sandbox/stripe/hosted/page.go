package hosted

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed invoice.html
var pageHTML string

// Page is the page of a finalized invoice.
type Page struct {
	engine *kernel.Engine
	brand  theme.Brand
	page   *template.Template
}

// NewPage returns the page for the invoices of e.
func NewPage(e *kernel.Engine, b theme.Brand) *Page {
	return &Page{engine: e, brand: b, page: pages.Parse(pageHTML)}
}

// pageView is the data of the page's template.
type pageView struct {
	pages.Reader
	Title, Note  string
	Lines        []shownLine
	Amount, PDF  string // both empty if the invoice does not exist
	Credit       string // the adjustment by the customer's balance, or ""
	Payable      bool
	Confirmation *pages.Confirmation // nil unless the payer has to confirm a payment
	Action       string
	Typed, Error string
}

type shownLine struct{ Text, Period, Amount string }

// Show handles GET.
func (p *Page) Show(w http.ResponseWriter, r *http.Request) {
	if err := p.engine.Settle(r.Context()); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	p.write(w, r, http.StatusOK, "")
}

// Use handles POST. It records whether the payer confirmed a payment, or pays the invoice with
// another card. It then redirects to the page, which shows the result.
func (p *Page) Use(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if err := p.engine.Settle(ctx); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, form.MaxBody)
	var refused *customers.PaymentError
	problem := ""
	err := p.engine.Write(ctx, func(ctx context.Context, st *kernel.Step) error {
		in, err := find(ctx, st, r.PathValue("id"))
		if err != nil || !isPayable(in) {
			return err // write renders the error
		}
		if answer := r.PostFormValue("authentication"); answer != "" {
			refused, err = subscriptions.Authenticate(ctx, st, in, answer == pages.ConfirmedValue)
			return err
		}
		refused, problem, err = payWithCard(ctx, st, in, r.PostFormValue("card_number"))
		return err
	})
	switch {
	case errors.Is(err, customers.ErrDeclined):
		p.write(w, r, http.StatusPaymentRequired, "Your card was declined. Try another card.")
	case refusalText(err) != "":
		p.write(w, r, http.StatusConflict, refusalText(err))
	case err != nil && !errors.Is(err, kernel.ErrNotFound):
		pages.Fail(w, r, p.engine.Log(), err)
	case problem != "":
		p.write(w, r, http.StatusUnprocessableEntity, problem)
	case refused != nil && !refused.RequiresAction():
		p.write(w, r, http.StatusPaymentRequired, refused.Message)
	default:
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, invoices.PagePath(r.PathValue("id")), http.StatusSeeOther) //nolint:gosec // the path stays on this site
	}
}

// refusalText returns the message of an API error, or "" for any other error.
func refusalText(err error) string {
	if refused, ok := errors.AsType[*form.Error](err); ok {
		return refused.Message
	}
	return ""
}

// payWithCard pays an invoice with the typed card. The card is attached to the customer but does
// not become the default. problem is set if the number is invalid.
func payWithCard(ctx context.Context, st *kernel.Step, in *invoices.Invoice, number string) (refused *customers.PaymentError, problem string, err error) {
	card, problem := customers.ReadCard(number)
	switch {
	case problem != "":
		return nil, problem, nil
	case card.Declines:
		return nil, "", customers.ErrDeclined
	}
	cu, err := customers.FindLive(ctx, st, in.Customer, "customer")
	if err != nil {
		return nil, "", err
	}
	pm := customers.NewCard(st, card, cu)
	if err := pm.Attach(ctx, st); err != nil {
		return nil, "", err
	}
	refused, err = subscriptions.PayWith(ctx, st, in, pm.ID)
	return refused, "", err
}

// find returns a finalized invoice. It returns kernel.ErrNotFound if the invoice does not exist or is a
// draft.
func find(ctx context.Context, st *kernel.Step, id string) (*invoices.Invoice, error) {
	if err := st.UseTestClock(ctx, id); err != nil {
		return nil, err
	}
	in, err := invoices.All.Find(ctx, st.Q, id)
	if err == nil && in.HostedInvoiceURL == nil {
		return nil, kernel.ErrNotFound
	}
	return in, err
}

func isPayable(in *invoices.Invoice) bool {
	return in.Status == invoices.StatusOpen || in.Status == invoices.StatusUncollectible
}

// write renders the invoice. problem is the reason why the invoice is not paid.
func (p *Page) write(w http.ResponseWriter, r *http.Request, status int, problem string) {
	st := p.engine.Read()
	view := pageView{Reader: pages.NewReader(p.brand, r), Typed: r.PostFormValue("card_number")}
	in, err := find(r.Context(), st, r.PathValue("id"))
	switch {
	case errors.Is(err, kernel.ErrNotFound):
		status = http.StatusNotFound
		view.Title, view.Note = view.T("This invoice does not exist"), view.T("Check the link, or open it again from the previous page.")
	case err == nil:
		var cu *customers.Customer
		if cu, err = customers.All.Find(r.Context(), st.Q, in.Customer); err == nil {
			view.Reader = pages.NewReader(p.brand, r, cu.PreferredLocales...)
			view.Error = view.T(problem)
			err = view.fill(r.Context(), st, in)
		}
	}
	if err != nil && !errors.Is(err, kernel.ErrNotFound) {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	pages.Write(w, r, p.engine.Log(), status, p.page, "'self'", view)
}

// fill adds an invoice to the view.
func (view *pageView) fill(ctx context.Context, st *kernel.Step, in *invoices.Invoice) error {
	view.Amount, view.PDF, view.Action = view.Reader.Amount(in.AmountDue, in.Currency), *in.InvoicePDF, invoices.PagePath(in.ID)
	for _, line := range in.Lines.Data {
		shown := shownLine{Text: line.Description, Amount: view.Reader.Amount(line.Amount, in.Currency)}
		if line.Period.End > line.Period.Start { // otherwise a one-time payment
			shown.Period = view.Period(line.Period.Start, line.Period.End)
		}
		view.Lines = append(view.Lines, shown)
	}
	if off := in.TotalDiscountAmounts.Sum(); off > 0 {
		view.Lines = append(view.Lines, shownLine{Text: view.T("Discount"), Amount: view.Reader.Amount(-off, in.Currency)})
	}
	if credit := in.AmountDue - in.Total; credit != 0 {
		view.Credit = view.Reader.Amount(credit, in.Currency)
	}
	view.Title = view.T("Invoice {number}", "number", *in.Number)
	if !isPayable(in) {
		view.Error, view.Typed = "", ""
		view.Note = view.T(map[string]string{invoices.StatusPaid: "This invoice is paid. Thank you.", invoices.StatusVoid: "This invoice was voided. No payment is due."}[in.Status])
		return nil
	}
	payment, err := invoices.PaymentStatus(ctx, st, in)
	switch {
	case err != nil:
		return err
	case payment == payments.StatusProcessing:
		view.Note = view.T("Your account is being debited. This takes a few days.")
		return nil
	case payment == payments.StatusRequiresAction:
		view.Confirmation = &pages.Confirmation{Reader: view.Reader, Action: view.Action, Amount: view.Amount}
	}
	view.Payable = true
	return nil
}
