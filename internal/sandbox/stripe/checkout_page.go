package stripe

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/pages"
)

//go:embed checkout.html
var checkoutHTML string

// checkoutPage is the hosted page on which a session is paid.
type checkoutPage struct {
	engine *kernel.Engine
	page   *template.Template
}

func newCheckoutPage(e *kernel.Engine) (*checkoutPage, error) {
	page, err := pages.Parse("checkout", checkoutHTML)
	return &checkoutPage{engine: e, page: page}, err
}

// checkoutView is the data of the page of a session.
type checkoutView struct {
	Title, Note   string
	Session       *checkout // nil when nothing is shown of it
	Items         []checkoutLine
	Total         string
	Form          bool // it can still be paid
	Cards, Debits bool // these ways
	Action        string
	NeedsCard     bool
	Attempt       attempt
	Button, Nonce string
	Back          *pages.BackLink
}

// attempt is what was typed into a form that could not be taken, and why not.
type attempt struct{ Card, IBAN, CardError, IBANError string }

type checkoutLine struct {
	Name          string
	Quantity      int64
	Price, Amount string
}

// showCheckout answers GET: the form, or why there is none.
func (p *checkoutPage) showCheckout(w http.ResponseWriter, r *http.Request) {
	if err := p.engine.Settle(r.Context()); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	p.writeCheckout(w, r, http.StatusOK, attempt{})
}

// payCheckout answers POST. A session that is already paid leads on to where
// paying it led, without a second effect.
func (p *checkoutPage) payCheckout(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if err := p.engine.Settle(ctx); err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, form.MaxBody)
	typed := attempt{Card: r.PostFormValue("card_number"), IBAN: r.PostFormValue("iban")}
	var (
		cs       *checkout
		readable bool
	)
	err := p.engine.Write(ctx, func(ctx context.Context, st *kernel.Step) (err error) {
		if cs, err = checkouts.Find(ctx, st.Q, r.PathValue("id")); err != nil || cs == nil || cs.Status != checkoutOpen {
			return err
		}
		var used tender
		if used, readable = typed.read(cs); !readable {
			return nil
		}
		return complete(ctx, st, cs, used)
	})
	switch {
	case errors.Is(err, customers.ErrDeclined):
		typed.CardError = "The card was declined. Try another one."
		p.writeCheckout(w, r, http.StatusPaymentRequired, typed)
	case err != nil:
		pages.Fail(w, r, p.engine.Log(), err)
	case cs != nil && cs.Status == checkoutOpen && !readable:
		p.writeCheckout(w, r, http.StatusUnprocessableEntity, typed)
	case cs != nil && cs.Status == checkoutComplete:
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, cs.successURL(), http.StatusSeeOther)
	default:
		p.writeCheckout(w, r, http.StatusOK, attempt{})
	}
}

// read makes out what the buyer wants to pay with, or says what is wrong.
func (a *attempt) read(cs *checkout) (used tender, ok bool) {
	switch {
	case a.IBAN != "" && a.Card != "":
		a.IBANError = "Pay either with a card or by debit."
	case a.IBAN != "" && !cs.takes(customers.MethodDebit):
		a.CardError = "Debits are not taken here. Pay with a card."
	case a.Card != "" && !cs.takes(customers.MethodCard):
		a.IBANError = "Cards are not taken here. Pay by debit."
	case a.IBAN != "" || !cs.takes(customers.MethodCard) && cs.needsCard():
		var account customers.TestAccount
		account, a.IBANError = customers.ReadIBAN(a.IBAN)
		used.account = &account
	case a.Card != "" || cs.needsCard():
		var found customers.TestCard
		found, a.CardError = customers.ReadCard(a.Card)
		used.card = &found
	}
	return used, a.CardError == "" && a.IBANError == ""
}

// writeCheckout renders the session as it stands. The status is for one that
// can still be paid.
func (p *checkoutPage) writeCheckout(w http.ResponseWriter, r *http.Request, status int, typed attempt) {
	ctx, st := r.Context(), p.engine.Read()
	cs, err := checkouts.Find(ctx, st.Q, r.PathValue("id"))
	if err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	if cs == nil {
		p.writePage(w, r, http.StatusNotFound, checkoutView{Title: "There is no such checkout", Note: "Check the link, or start again where you came from."})
		return
	}
	state, err := checkoutStates.Get(ctx, st.Q, cs.ID, "id")
	if err != nil {
		pages.Fail(w, r, p.engine.Log(), err)
		return
	}
	view := newCheckoutView(cs, state, time.Unix(st.Now, 0).UTC())
	if cs.Status == checkoutExpired {
		status = http.StatusGone
	}
	if view.Form {
		view.Attempt = typed
	}
	p.writePage(w, r, status, view)
}

func newCheckoutView(cs *checkout, state *checkoutState, now time.Time) checkoutView {
	view := checkoutView{Session: cs, Total: form.FormatAmount(cs.AmountTotal, cs.Currency)}
	for _, item := range state.Items {
		view.Items = append(view.Items, checkoutLine{
			Name: item.Description, Quantity: item.Quantity,
			Price: catalog.DescribePrice(item.Price), Amount: form.FormatAmount(item.AmountTotal, cs.Currency),
		})
	}
	switch cs.Status {
	case checkoutComplete:
		view.Title, view.Note = "This checkout is complete", "Your subscription has started."
		if cs.PaymentStatus == paymentUnpaid {
			view.Note += " Your account is debited within the next days."
		}
		view.Back = &pages.BackLink{ID: "continue", URL: cs.successURL(), Text: "Continue"}
		return view
	case checkoutExpired:
		view.Session, view.Items = nil, nil
		view.Title, view.Note = "This checkout has expired", "Nothing was bought. Start again where you came from."
	default:
		view.Cards, view.Debits = cs.takes(customers.MethodCard), cs.takes(customers.MethodDebit)
		view.Form, view.Action, view.NeedsCard = true, checkoutPath(cs.ID), cs.needsCard()
		view.describeOpen(cs, state, now)
	}
	if cs.CancelURL != nil {
		view.Back = &pages.BackLink{ID: "cancel", URL: *cs.CancelURL, Text: "Cancel and go back"}
	}
	return view
}

func (view *checkoutView) describeOpen(cs *checkout, state *checkoutState, now time.Time) {
	switch {
	case state.TrialDays > 0:
		ends := now.AddDate(0, 0, int(state.TrialDays)).Format("2 January 2006")
		view.Title, view.Button = "Start your trial", "Start trial"
		view.Note = fmt.Sprintf("Free for %d days, until %s.", state.TrialDays, ends)
	case state.metered():
		view.Title, view.Button, view.Note = "Subscribe", "Subscribe", "What you use is charged at the end of each period."
		if cs.due() > 0 {
			view.Button = "Pay " + view.Total
		}
	case cs.due() == 0:
		view.Title, view.Button, view.Note = "Start your subscription", "Subscribe", "This plan is free."
	default:
		view.Title, view.Button = "Subscribe", "Pay "+view.Total
	}
}

func (p *checkoutPage) writePage(w http.ResponseWriter, r *http.Request, status int, view checkoutView) {
	view.Nonce = pages.NewNonce()
	formAction := "'self'"
	if view.Session != nil {
		// Browsers hold a form's redirect against the policy, too.
		if u, err := url.Parse(view.Session.successURL()); err == nil {
			formAction += " " + u.Scheme + "://" + u.Host
		}
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	pages.Write(w, r, p.engine.Log(), status, p.page, view.Nonce, formAction, view)
}
