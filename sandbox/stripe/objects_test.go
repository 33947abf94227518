package stripe_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

func TestCustomers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	cu := must[*api.Customer](t)(w.V1Customers.Create(ctx, &api.CustomerCreateParams{
		Name: api.String("Acme"), Email: api.String("billing@acme.test"), Phone: api.String("+1 555 0100"),
		Description: api.String("first"), PreferredLocales: []*string{api.String("fr"), api.String("en")},
		Address:  &api.AddressParams{Line1: api.String("1 Main St"), City: api.String("Paris"), Country: api.String("FR")},
		Metadata: map[string]string{"tenant": "7", "old": "yes"},
	}))
	if cu.Created != start.Unix() || cu.Livemode || cu.Address.City != "Paris" || len(cu.PreferredLocales) != 2 {
		t.Errorf("created: %+v", cu)
	}
	cu = must[*api.Customer](t)(w.V1Customers.Update(ctx, cu.ID, &api.CustomerUpdateParams{
		Description: api.String(""), Address: &api.AddressParams{City: api.String("Lyon")},
		Metadata: map[string]string{"old": "", "new": "yes"},
	}))
	if cu.Description != "" || cu.Address.City != "Lyon" || cu.Address.Line1 != "1 Main St" || cu.Name != "Acme" {
		t.Errorf("updated: %+v", cu)
	}
	if diff := cmp.Diff(map[string]string{"tenant": "7", "new": "yes"}, cu.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if _, body := w.call("POST", "/v1/customers/"+cu.ID, "metadata=&address=", nil); body == "" {
		t.Error("no answer")
	}
	cu = must[*api.Customer](t)(w.V1Customers.Retrieve(ctx, cu.ID, nil))
	if len(cu.Metadata) != 0 || cu.Address != nil {
		t.Errorf("unset: %+v %+v", cu.Metadata, cu.Address)
	}
	must[*api.Customer](t)(w.V1Customers.Update(ctx, cu.ID, &api.CustomerUpdateParams{Name: api.String("Acme")}))
	if diff := cmp.Diff([]string{"customer.created", "customer.updated", "customer.updated"}, w.eventTypes()); diff != "" {
		t.Errorf("an update without a change emits an event (-want +got):\n%s", diff)
	}
}

func TestDeletingACustomerEndsEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	p := w.sold(1000, "eur", "month")
	session, sub := w.bought(p, 1)
	params := w.checkoutParams(p, 1)
	params.Customer = &session.Customer.ID
	open := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(ctx, params))

	if gone := must[*api.Customer](t)(w.V1Customers.Delete(ctx, session.Customer.ID, nil)); !gone.Deleted {
		t.Errorf("deleted: %+v", gone)
	}
	if got := must[*api.Customer](t)(w.V1Customers.Retrieve(ctx, session.Customer.ID, nil)); !got.Deleted {
		t.Errorf("retrieved: %+v", got)
	}
	if got := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(ctx, sub.ID, nil)); got.Status != "canceled" || got.EndedAt != start.Unix() {
		t.Errorf("its subscription is %s", got.Status)
	}
	if got := w.pay(open.ID, "4242424242424242"); got.status != http.StatusGone {
		t.Errorf("its checkout returns %d", got.status)
	}
	get := &api.SubscriptionRetrieveParams{}
	get.AddExpand("customer")
	if got := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(ctx, sub.ID, get)); !got.Customer.Deleted {
		t.Errorf("expanded: %+v", got.Customer)
	}
	_, err := w.V1Customers.Update(ctx, session.Customer.ID, &api.CustomerUpdateParams{Name: api.String("x")})
	refused(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = w.V1Customers.Delete(ctx, session.Customer.ID, nil)
	refused(t, err, http.StatusNotFound, "resource_missing", "id")
	for cu, err := range w.V1Customers.List(ctx, nil).All(ctx) {
		if err != nil || cu.ID == session.Customer.ID {
			t.Errorf("listed: %+v, %v", cu, err)
		}
	}
}

func TestProducts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	pr := must[*api.Product](t)(w.V1Products.Create(ctx, &api.ProductCreateParams{
		ID: api.String("plan-starter"), Name: api.String("Starter"), UnitLabel: api.String("seat"),
		Images: []*string{api.String("https://example.test/a.png")},
	}))
	_, err := w.V1Products.Create(ctx, &api.ProductCreateParams{ID: &pr.ID, Name: api.String("Starter")})
	refused(t, err, http.StatusBadRequest, "resource_already_exists", "id")
	p := must[*api.Price](t)(w.V1Prices.Create(ctx, &api.PriceCreateParams{Product: &pr.ID, Currency: api.String("EUR"), UnitAmount: api.Int64(500)}))
	other := w.sold(1, "eur", "month")
	_, err = w.V1Products.Update(ctx, pr.ID, &api.ProductUpdateParams{DefaultPrice: &other.ID})
	refused(t, err, http.StatusBadRequest, "", "default_price")
	pr = must[*api.Product](t)(w.V1Products.Update(ctx, pr.ID, &api.ProductUpdateParams{
		Name: api.String("Starter 2"), Active: api.Bool(false), DefaultPrice: &p.ID, Description: api.String("For teams"),
	}))
	if pr.Name != "Starter 2" || pr.Active || pr.DefaultPrice.ID != p.ID || pr.UnitLabel != "seat" {
		t.Errorf("updated: %+v", pr)
	}
	for active, want := range map[bool]string{true: other.Product.ID, false: pr.ID} {
		for got, err := range w.V1Products.List(ctx, &api.ProductListParams{Active: &active}).All(ctx) {
			if err != nil || got.ID != want {
				t.Errorf("active %v lists %s, want %s (%v)", active, got.ID, want, err)
			}
		}
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	pr := must[*api.Product](t)(w.V1Products.Create(ctx, &api.ProductCreateParams{Name: api.String("Calls")}))
	fine := must[*api.Price](t)(w.V1Prices.Create(ctx, &api.PriceCreateParams{
		Product: &pr.ID, Currency: api.String("eur"), UnitAmountDecimal: api.Float64(0.125), LookupKey: api.String("calls"),
		Nickname: api.String("per call"), TaxBehavior: api.String("exclusive"),
		Recurring: &api.PriceCreateRecurringParams{Interval: api.String("month"), IntervalCount: api.Int64(3)},
	}))
	if fine.UnitAmountDecimal != 0.125 || fine.UnitAmount != 0 || fine.Recurring.IntervalCount != 3 || fine.Type != "recurring" {
		t.Errorf("created: %+v", fine)
	}
	_, err := w.V1Prices.Create(ctx, &api.PriceCreateParams{Product: &pr.ID, Currency: api.String("eur"), UnitAmount: api.Int64(1), LookupKey: api.String("calls")})
	refused(t, err, http.StatusBadRequest, "resource_already_exists", "lookup_key")
	taker := must[*api.Price](t)(w.V1Prices.Create(ctx, &api.PriceCreateParams{
		Product: &pr.ID, Currency: api.String("usd"), UnitAmount: api.Int64(1), LookupKey: api.String("calls"), TransferLookupKey: api.Bool(true),
	}))
	if got := must[*api.Price](t)(w.V1Prices.Retrieve(ctx, fine.ID, nil)); got.LookupKey != "" {
		t.Errorf("lookup key still belongs to %s", got.ID)
	}
	_, err = w.V1Prices.Update(ctx, fine.ID, &api.PriceUpdateParams{TaxBehavior: api.String("inclusive")})
	refused(t, err, http.StatusBadRequest, "", "tax_behavior")
	must[*api.Price](t)(w.V1Prices.Update(ctx, fine.ID, &api.PriceUpdateParams{Active: api.Bool(false), Metadata: map[string]string{"a": "b"}}))
	for name, c := range map[string]struct {
		filter *api.PriceListParams
		want   string
	}{
		"inactive":   {&api.PriceListParams{Active: api.Bool(false)}, fine.ID},
		"currency":   {&api.PriceListParams{Currency: api.String("usd")}, taker.ID},
		"lookup key": {&api.PriceListParams{LookupKeys: []*string{api.String("calls")}}, taker.ID},
		"recurring":  {&api.PriceListParams{Type: api.String("recurring"), Product: &pr.ID}, fine.ID},
	} {
		n := 0
		for got, err := range w.V1Prices.List(ctx, c.filter).All(ctx) {
			if n++; err != nil || got.ID != c.want {
				t.Errorf("%s lists %+v (%v)", name, got, err)
			}
		}
		if n != 1 {
			t.Errorf("%s lists %d", name, n)
		}
	}
}

func TestPriceRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call("POST", "/v1/products", "name=x&id=p", nil)
	for _, c := range []struct{ body, code, param string }{
		{"unit_amount=1&product=p", "parameter_missing", "currency"},
		{"currency=eur&product=p", "parameter_missing", "unit_amount"},
		{"currency=eur&unit_amount=1", "parameter_missing", "product"},
		{"currency=eur&unit_amount=1&product=q", "resource_missing", "product"},
		{"currency=eur&unit_amount=1&product=p&product_data[name]=x", "", "product_data"},
		{"currency=eur&unit_amount=1&product_data[active]=true", "parameter_missing", "product_data[name]"},
		{"currency=euro&unit_amount=1&product=p", "", "currency"},
		{"currency=xyz&unit_amount=1&product=p", "", "currency"},
		{"currency=eur&unit_amount=-1&product=p", "parameter_invalid_integer", "unit_amount"},
		{"currency=eur&unit_amount=1.5&product=p", "parameter_invalid_integer", "unit_amount"},
		{"currency=eur&unit_amount=100000000&product=p", "parameter_invalid_integer", "unit_amount"},
		{"currency=eur&unit_amount=1&unit_amount_decimal=1&product=p", "", "unit_amount"},
		{"currency=eur&unit_amount_decimal=1e3&product=p", "", "unit_amount_decimal"},
		{"currency=eur&unit_amount_decimal=0.1234567890123&product=p", "", "unit_amount_decimal"},
		{"currency=eur&unit_amount=1&product=p&recurring[interval]=fortnight", "", "recurring[interval]"},
		{"currency=eur&unit_amount=1&product=p&recurring[interval_count]=1", "parameter_missing", "recurring[interval]"},
		{"currency=eur&unit_amount=1&product=p&recurring[interval]=year&recurring[interval_count]=4", "parameter_invalid_integer", "recurring[interval_count]"},
		{"currency=eur&unit_amount=1&product=p&recurring[interval]=month&recurring[usage_type]=metered", "parameter_missing", "recurring[meter]"},
		{"currency=eur&product=p&billing_scheme=tiered", "", "billing_scheme"},
	} {
		res, body := w.call("POST", "/v1/prices", c.body, nil)
		got := decode[struct{ Error api.Error }](t, body).Error
		if res.StatusCode != http.StatusBadRequest || string(got.Code) != c.code || got.Param != c.param {
			t.Errorf("%s: got %d %s, want %q on %q", c.body, res.StatusCode, body, c.code, c.param)
		}
	}
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	session, _ := w.bought(w.sold(1000, "eur", "month"), 1)
	var intent string
	for payment, err := range w.V1InvoicePayments.List(ctx, &api.InvoicePaymentListParams{Invoice: &session.Invoice.ID}).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		intent = payment.Payment.PaymentIntent.ID
		must[*api.InvoicePayment](t)(w.V1InvoicePayments.Retrieve(ctx, payment.ID, nil))
	}
	_, err := w.V1Refunds.Create(ctx, &api.RefundCreateParams{PaymentIntent: &intent, Amount: api.Int64(1001)})
	refused(t, err, http.StatusBadRequest, "", "amount")
	part := must[*api.Refund](t)(w.V1Refunds.Create(ctx, &api.RefundCreateParams{
		PaymentIntent: &intent, Amount: api.Int64(300), Reason: api.String("duplicate"), Metadata: map[string]string{"a": "b"},
	}))
	rest := must[*api.Refund](t)(w.V1Refunds.Create(ctx, &api.RefundCreateParams{Charge: &part.Charge.ID}))
	if part.Status != "succeeded" || rest.Amount != 700 || rest.PaymentIntent.ID != intent {
		t.Errorf("refunds: %+v, %+v", part, rest)
	}
	_, err = w.V1Refunds.Create(ctx, &api.RefundCreateParams{PaymentIntent: &intent})
	refused(t, err, http.StatusBadRequest, "charge_already_refunded", "")
	_, err = w.V1Refunds.Create(ctx, &api.RefundCreateParams{})
	refused(t, err, http.StatusBadRequest, "parameter_missing", "payment_intent")
	_, err = w.V1Refunds.Create(ctx, &api.RefundCreateParams{PaymentIntent: api.String("pi_x")})
	refused(t, err, http.StatusBadRequest, "resource_missing", "payment_intent")
	get := &api.ChargeRetrieveParams{}
	get.AddExpand("refunds")
	ch := must[*api.Charge](t)(w.V1Charges.Retrieve(ctx, part.Charge.ID, get))
	if !ch.Refunded || ch.AmountRefunded != 1000 || len(ch.Refunds.Data) != 2 {
		t.Errorf("charge: %+v", ch)
	}
	must[*api.Refund](t)(w.V1Refunds.Retrieve(ctx, part.ID, nil))
	must[*api.PaymentMethod](t)(w.V1PaymentMethods.Retrieve(ctx, ch.PaymentMethod, nil))
	n := 0
	for re, err := range w.V1Refunds.List(ctx, &api.RefundListParams{PaymentIntent: &intent}).All(ctx) {
		if n++; err != nil || re.Charge.ID != ch.ID {
			t.Errorf("listed: %+v, %v", re, err)
		}
	}
	if n != 2 {
		t.Errorf("%d refunds are listed", n)
	}
}
