package checkout

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed checkout.html
var pageHTML string

// Page is the hosted payment page of a session.
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
	Session       *Session // nil if the session does not exist
	Items         []pageLine
	Total         string
	Form          bool // whether the session can be paid
	Cards, Debits bool // the accepted payment methods; neither if nothing is due
	Action        string
	Attempt       attempt
	Confirmation  *pages.Confirmation // nil unless the buyer has to confirm the payment
	Button        string
	Back          *pages.BackLink
}

// attempt contains the values typed into the form and their error messages.
type attempt struct {
	Card, IBAN, CardError, IBANError string
	authentication                   string // the buyer's response to the bank
	asked                            bool   // whether the bank requires a confirmation
}

type pageLine struct {
	Name          string
	Quantity      int64
	Price, Amount string
}

// Show responds to GET with the form, or with the reason why the session cannot be paid.
func (p *Page) Show(w http.ResponseWriter, r *http.Request) {
	if err := p.engine.Settle(r.Context()); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	p.write(w, r, http.StatusOK, attempt{})
}

// Pay handles POST. If the session is already paid, it only redirects to the success URL again.
func (p *Page) Pay(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if err := p.engine.Settle(ctx); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, form.MaxBody)
	typed := attempt{Card: r.PostFormValue("card_number"), IBAN: r.PostFormValue("iban"), authentication: r.PostFormValue("authentication")}
	var (
		cs       *Session
		readable bool
	)
	err := p.engine.Write(ctx, func(ctx context.Context, st *kernel.Step) (err error) {
		if err := st.UseTestClock(ctx, r.PathValue("id")); err != nil {
			return err
		}
		cs, err = Sessions.Find(ctx, st.Q, r.PathValue("id"))
		if errors.Is(err, kernel.ErrNotFound) {
			return nil // write renders the error
		}
		if err != nil || cs.Status != statusOpen {
			return err
		}
		var used paymentInput
		if used, readable = typed.read(cs); !readable {
			return nil
		}
		return complete(ctx, st, cs, used)
	})
	switch {
	case errors.Is(err, customers.ErrDeclined):
		typed.CardError = "Your card was declined. Try another card."
		p.write(w, r, http.StatusPaymentRequired, typed)
	case errors.Is(err, customers.ErrNotAuthenticated):
		typed.CardError = "The payment was not confirmed. Try again, or use another card."
		p.write(w, r, http.StatusPaymentRequired, typed)
	case errors.Is(err, customers.ErrUnconfirmed):
		typed.asked = true
		p.write(w, r, http.StatusOK, typed)
	case err != nil:
		pages.Fail(w, r, p.engine.Log(), err)
	case cs != nil && cs.Status == statusOpen && !readable:
		p.write(w, r, http.StatusUnprocessableEntity, typed)
	case cs != nil && cs.Status == statusComplete:
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, cs.successURL(), http.StatusSeeOther)
	default:
		p.write(w, r, http.StatusOK, attempt{})
	}
}

// read parses the payment details that the buyer typed. It reports whether they are valid;
// otherwise it sets the error messages in a. If nothing is due, the page does not ask for them, but a
// form that has them is accepted.
func (a *attempt) read(cs *Session) (used paymentInput, ok bool) {
	switch {
	case a.IBAN != "" && a.Card != "":
		a.IBANError = "Pay either by card or by direct debit."
	case a.IBAN != "" && !cs.acceptsMethod(customers.MethodDebit):
		a.CardError = "Direct debit is not available here. Pay by card."
	case a.Card != "" && !cs.acceptsMethod(customers.MethodCard):
		a.IBANError = "Cards are not available here. Pay by direct debit."
	case a.IBAN != "" || !cs.acceptsMethod(customers.MethodCard) && cs.needsCard():
		var account customers.TestAccount
		account, a.IBANError = customers.ReadIBAN(a.IBAN)
		used.account = &account
	case a.Card != "" || cs.needsCard():
		var found customers.TestCard
		found, a.CardError = customers.ReadCard(a.Card)
		used.card, used.authentication = &found, a.authentication
	}
	return used, a.CardError == "" && a.IBANError == ""
}

// write renders the session. status applies unless the session is missing or expired.
func (p *Page) write(w http.ResponseWriter, r *http.Request, status int, typed attempt) {
	ctx, st := r.Context(), p.engine.Read()
	cs, err := Sessions.Find(ctx, st.Q, r.PathValue("id"))
	if err != nil && !errors.Is(err, kernel.ErrNotFound) {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	if err != nil {
		reader := pages.NewReader(p.brand, r)
		p.writePage(w, r, http.StatusNotFound, pageView{
			Reader: reader, Title: reader.T("This checkout does not exist"), Note: reader.T("Check the link, or start again from the previous page."),
		})
		return
	}
	state, err := sales.Get(ctx, st.Q, cs.ID, "id")
	if err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	view := newPageView(pages.NewReader(p.brand, r, cs.locale()), cs, state, st.Now)
	if cs.Status == statusExpired {
		status = http.StatusGone
	}
	if view.Form {
		view.Attempt = typed
		view.Attempt.CardError, view.Attempt.IBANError = view.T(typed.CardError), view.T(typed.IBANError)
	}
	if view.Form && typed.asked {
		view.Form, view.Confirmation = false, &pages.Confirmation{Reader: view.Reader, Action: view.Action, Card: typed.Card}
		if cs.amountDue() > 0 {
			view.Confirmation.Amount = view.Total
		}
	}
	p.writePage(w, r, status, view)
}

func newPageView(reader pages.Reader, cs *Session, state *pendingPurchase, now int64) pageView {
	view := pageView{Reader: reader, Session: cs, Total: reader.Amount(cs.AmountTotal, cs.Currency)}
	for _, item := range state.Items {
		view.Items = append(view.Items, pageLine{
			Name: item.Description, Quantity: item.Quantity,
			Price: reader.Price(item.Price), Amount: reader.Amount(item.AmountTotal, cs.Currency),
		})
	}
	switch cs.Status {
	case statusComplete:
		view.Title, view.Note = view.T("This checkout is complete"), view.T("Your subscription has started.")
		if cs.Mode == modePayment {
			view.Note = view.T("Thank you for your purchase.")
		}
		if cs.PaymentStatus == paymentUnpaid {
			view.Note += " " + view.T("Your account will be debited in the next few days.")
		}
		view.Back = &pages.BackLink{ID: "continue", URL: cs.successURL(), Text: view.T("Continue")}
		return view
	case statusExpired:
		view.Session, view.Items = nil, nil
		view.Title, view.Note = view.T("This checkout has expired"), view.T("You have not been charged. Start again from the previous page.")
	default:
		if cs.needsCard() {
			view.Cards, view.Debits = cs.acceptsMethod(customers.MethodCard), cs.acceptsMethod(customers.MethodDebit)
		}
		view.Form, view.Action = true, Path(cs.ID)
		view.describeOpen(cs, state, now)
	}
	if cs.CancelURL != nil {
		view.Back = &pages.BackLink{ID: "cancel", URL: *cs.CancelURL, Text: view.T("Cancel and go back")}
	}
	return view
}

// describeOpen sets the texts for a session that can be paid.
func (view *pageView) describeOpen(cs *Session, state *pendingPurchase, now int64) {
	pay := view.T("Pay {amount}", "amount", view.Total)
	switch {
	case cs.Mode == modePayment:
		view.Title, view.Button = view.T("Complete your purchase"), pay
	case state.TrialDays > 0:
		ends := view.Day(time.Unix(now, 0).UTC().AddDate(0, 0, int(state.TrialDays)).Unix())
		view.Title, view.Button = view.T("Start your trial"), view.T("Start trial")
		view.Note = view.T("Free for 1 day, until {date}.", "date", ends)
		if state.TrialDays > 1 {
			view.Note = view.T("Free for {days} days, until {date}.", "days", strconv.FormatInt(state.TrialDays, 10), "date", ends)
		}
	case state.hasMeteredPrice():
		view.Title, view.Button, view.Note = view.T("Subscribe"), view.T("Subscribe"), view.T("Usage is billed at the end of each billing period.")
		if cs.amountDue() > 0 {
			view.Button = pay
		}
	case cs.amountDue() == 0:
		view.Title, view.Button, view.Note = view.T("Start your subscription"), view.T("Subscribe"), view.T("This plan is free.")
	default:
		view.Title, view.Button = view.T("Subscribe"), pay
	}
}

// locale returns the language that the client chose for the page, or "" for the browser's language.
func (cs *Session) locale() string {
	if cs.Locale == nil {
		return ""
	}
	return *cs.Locale
}

// writePage renders a view.
func (p *Page) writePage(w http.ResponseWriter, r *http.Request, status int, view pageView) {
	formAction := "'self'"
	if view.Session != nil {
		// Browsers also apply the policy to the redirect after the form.
		if u, err := url.Parse(view.Session.successURL()); err == nil {
			formAction += " " + u.Scheme + "://" + u.Host
		}
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	pages.Write(w, r, p.engine.Log(), status, p.page, formAction, view)
}
