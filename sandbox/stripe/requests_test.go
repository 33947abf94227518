package stripe_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/sandbox/stripe"
)

func TestNewRefusesAConfigThatCannotWork(t *testing.T) {
	t.Parallel()
	right := newWorld(t).config
	for name, spoil := range map[string]func(*stripe.Config){
		"no database":               func(c *stripe.Config) { c.DB = nil },
		"no clock":                  func(c *stripe.Config) { c.Clock = nil },
		"no public URL":             func(c *stripe.Config) { c.PublicURL = "" },
		"public URL with a path":    func(c *stripe.Config) { c.PublicURL += "/api" },
		"no secret key":             func(c *stripe.Config) { c.SecretKey = "" },
		"webhooks without a secret": func(c *stripe.Config) { c.WebhookURL, c.WebhookSecret = "http://127.0.0.1:1", "" },
	} {
		c := right
		spoil(&c)
		if _, err := stripe.New(c); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestSecretKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := newClient(t, w.url, "sk_test_wrong").V1Customers.Retrieve(t.Context(), "cus_x", nil)
	if message := refused(t, err, http.StatusUnauthorized, "", ""); strings.Contains(message, "sk_test_wrong") {
		t.Errorf("%q contains the complete key", message)
	}
	for name, c := range map[string]struct {
		header string
		status int
	}{
		"none":              {"", http.StatusUnauthorized},
		"bearer":            {"Bearer " + secretKey, http.StatusOK},
		"bearer, cut short": {"Bearer " + secretKey[:20], http.StatusUnauthorized},
		"basic":             {"Basic " + base64.StdEncoding.EncodeToString([]byte(secretKey+":")), http.StatusOK},
		"basic, wrong":      {"Basic c2s6", http.StatusUnauthorized},
	} {
		res, body := w.call("GET", "/v1/account", "", map[string]string{"Authorization": c.header})
		if res.StatusCode != c.status {
			t.Errorf("%s: answered %d: %s", name, res.StatusCode, body)
		}
		if err := checkAnswer("GET", "/v1/account", res.StatusCode, []byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherVersionsAndAccountsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		name, value string
		status      int
	}{
		{"Stripe-Version", api.APIVersion, http.StatusOK},
		{"Stripe-Version", "2026-08-26.dahlia", http.StatusOK},
		{"Stripe-Version", "2024-06-20", http.StatusBadRequest},
		{"Stripe-Account", "acct_x", http.StatusBadRequest},
	} {
		if res, body := w.call("GET", "/v1/account", "", map[string]string{c.name: c.value}); res.StatusCode != c.status {
			t.Errorf("%s %s: answered %d: %s", c.name, c.value, res.StatusCode, body)
		}
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code, param              string
	}{
		{"unknown URL", "GET", "/v1/nothing", "", http.StatusNotFound, "", ""},
		{"known URL, other method", "DELETE", "/v1/products/prod_x", "", http.StatusNotFound, "", ""},
		{"unknown object", "GET", "/v1/customers/cus_x", "", http.StatusNotFound, "resource_missing", "id"},
		{"object of another kind", "GET", "/v1/prices/cus_x", "", http.StatusNotFound, "resource_missing", "id"},
		{"unknown parameter", "POST", "/v1/customers", "colour=red", http.StatusBadRequest, "parameter_unknown", "colour"},
		{"unknown nested parameter", "POST", "/v1/customers", "address[planet]=earth", http.StatusBadRequest, "parameter_unknown", "address[planet]"},
		{"unknown parameter of a GET", "GET", "/v1/customers?colour=red", "", http.StatusBadRequest, "parameter_unknown", "colour"},
		{"missing parameter", "POST", "/v1/products", "active=true", http.StatusBadRequest, "parameter_missing", "name"},
		{"empty value", "POST", "/v1/products", "name=", http.StatusBadRequest, "parameter_invalid_empty", "name"},
		{"too long", "POST", "/v1/products", "name=" + strings.Repeat("x", 5001), http.StatusBadRequest, "", "name"},
		{"not a boolean", "POST", "/v1/products", "name=x&active=yes", http.StatusBadRequest, "", "active"},
		{"not UTF-8", "POST", "/v1/products", "name=%ff", http.StatusBadRequest, "", "name"},
		{"object instead of text", "POST", "/v1/products", "name[en]=x", http.StatusBadRequest, "", "name"},
		{"text instead of object", "POST", "/v1/customers", "address=here", http.StatusBadRequest, "", "address"},
		{"both", "POST", "/v1/customers", "address=here&address[city]=x", http.StatusBadRequest, "", ""},
		{"broken brackets", "POST", "/v1/customers", "address[city=x", http.StatusBadRequest, "", ""},
		{"broken escape", "POST", "/v1/customers", "name=%zz", http.StatusBadRequest, "", ""},
		{"email", "POST", "/v1/customers", "email=nobody", http.StatusBadRequest, "email_invalid", "email"},
		{"metadata key too long", "POST", "/v1/customers", "metadata[" + strings.Repeat("k", 41) + "]=v", http.StatusBadRequest, "", "metadata[" + strings.Repeat("k", 41) + "]"},
		{"limit 0", "GET", "/v1/customers?limit=0", "", http.StatusBadRequest, "parameter_invalid_integer", "limit"},
		{"limit 101", "GET", "/v1/customers?limit=101", "", http.StatusBadRequest, "parameter_invalid_integer", "limit"},
		{"unknown cursor", "GET", "/v1/customers?starting_after=cus_x", "", http.StatusBadRequest, "resource_missing", "starting_after"},
		{"two cursors", "GET", "/v1/customers?starting_after=a&ending_before=b", "", http.StatusBadRequest, "", "ending_before"},
	} {
		res, body := w.call(c.method, c.path, c.body, nil)
		var got struct{ Error api.Error }
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != c.status || string(got.Error.Code) != c.code || got.Error.Param != c.param || got.Error.Type != "invalid_request_error" {
			t.Errorf("%s: got %d %s, want %d %q on %q", c.name, res.StatusCode, body, c.status, c.code, c.param)
		}
		if err := checkObject("error", []byte(body)); err != nil || res.Header.Get("Request-Id") == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if res, _ := w.call("POST", "/v1/customers", `{"name":"x"}`, map[string]string{"Content-Type": "application/json"}); res.StatusCode != http.StatusBadRequest {
		t.Errorf("JSON is answered with %d", res.StatusCode)
	}
}

func TestIdempotencyKeyReplays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := map[string]string{"Idempotency-Key": "k1"}
	first, body := w.call("POST", "/v1/customers", "name=Ada&email=ada%40example.test", key)
	if first.StatusCode != http.StatusOK || first.Header.Get("Idempotent-Replayed") != "" {
		t.Fatalf("answered %d: %s", first.StatusCode, body)
	}
	for range 2 {
		// The order of parameters and a restart do not matter.
		again, replayed := w.call("POST", "/v1/customers", "email=ada%40example.test&name=Ada", key)
		if replayed != body || again.Header.Get("Idempotent-Replayed") != "true" || again.Header.Get("Idempotency-Key") != "k1" {
			t.Errorf("answered %d %v: %s", again.StatusCode, again.Header, replayed)
		}
		w.restart()
	}
	for name, request := range map[string][2]string{
		"other parameters": {"/v1/customers", "name=Bob"},
		"other endpoint":   {"/v1/products", "name=Ada&email=ada%40example.test"},
	} {
		res, body := w.call("POST", request[0], request[1], key)
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(body, "idempotency_error") {
			t.Errorf("%s: answered %d: %s", name, res.StatusCode, body)
		}
	}
	if got := w.eventTypes(); !slices.Equal(got, []string{"customer.created"}) {
		t.Errorf("happened: %v", got)
	}
}

func TestIdempotencyKeyOfARefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// A request that could not start does not use up its key.
	if res, body := w.call("POST", "/v1/products", "active=true", map[string]string{"Idempotency-Key": "k1"}); res.StatusCode != http.StatusBadRequest {
		t.Fatalf("answered %d: %s", res.StatusCode, body)
	}
	if res, body := w.call("POST", "/v1/products", "name=x&id=prod_a", map[string]string{"Idempotency-Key": "k1"}); res.StatusCode != http.StatusOK {
		t.Errorf("answered %d: %s", res.StatusCode, body)
	}
	// An error of an endpoint is stored and replayed, even if its cause no longer exists.
	sale := "currency=eur&unit_amount=1&product=prod_b"
	_, refusal := w.call("POST", "/v1/prices", sale, map[string]string{"Idempotency-Key": "k2"})
	w.call("POST", "/v1/products", "name=x&id=prod_b", nil)
	res, body := w.call("POST", "/v1/prices", sale, map[string]string{"Idempotency-Key": "k2"})
	if !strings.Contains(refusal, "resource_missing") || body != refusal || res.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("answered %d %s, before that %s", res.StatusCode, body, refusal)
	}
	if res, body := w.call("POST", "/v1/prices", sale, nil); res.StatusCode != http.StatusOK {
		t.Errorf("without a key answered %d: %s", res.StatusCode, body)
	}
}

func TestARefusalLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sale := "currency=eur&unit_amount=1&lookup_key=taken&product_data[name]=x"
	w.call("POST", "/v1/prices", sale, nil)
	before := w.eventTypes()
	for _, key := range []string{"", "k1"} {
		// The product is created before the key is found to be in use.
		res, body := w.call("POST", "/v1/prices", sale, map[string]string{"Idempotency-Key": key})
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("answered %d: %s", res.StatusCode, body)
		}
	}
	n := 0
	for _, err := range w.V1Products.List(t.Context(), nil).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if after := w.eventTypes(); n != 1 || !slices.Equal(before, after) {
		t.Errorf("there are %d products, and these events: %v", n, after)
	}
}

func TestIdempotencyKeyUsedAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const callers = 8
	bodies := make([]string, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			_, bodies[i] = w.call("POST", "/v1/customers", "name=Ada", map[string]string{"Idempotency-Key": "k"})
		})
	}
	all.Wait()
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("two answers: %s and %s", body, bodies[0])
		}
	}
	if got := w.eventTypes(); !slices.Equal(got, []string{"customer.created"}) {
		t.Errorf("happened: %v", got)
	}
}

func TestListsArePaginated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := make([]string, 7) // newest first
	for i := range ids {
		ids[len(ids)-1-i] = w.customer(fmt.Sprintf("c%d@example.test", i)).ID
	}
	list := func(query string) ([]string, bool) {
		t.Helper()
		_, body := w.call("GET", "/v1/customers?limit=3"+query, "", nil)
		page := decode[struct {
			Data    []api.Customer
			HasMore bool `json:"has_more"`
		}](t, body)
		var got []string
		for _, cu := range page.Data {
			got = append(got, cu.ID)
		}
		return got, page.HasMore
	}
	for _, c := range []struct {
		name          string
		after, before string
		want          []string
		more          bool
	}{
		{"first page", "", "", ids[:3], true},
		{"next page", ids[2], "", ids[3:6], true},
		{"last page", ids[5], "", ids[6:], false},
		{"past the end", ids[6], "", nil, false},
		{"before the last", "", ids[6], ids[3:6], true},
		{"before the second", "", ids[1], ids[:1], false},
	} {
		query := ""
		if c.after != "" {
			query += "&starting_after=" + c.after
		}
		if c.before != "" {
			query += "&ending_before=" + c.before
		}
		got, more := list(query)
		if diff := cmp.Diff(c.want, got); diff != "" || more != c.more {
			t.Errorf("%s: more %v (-want +got):\n%s", c.name, more, diff)
		}
	}
	var all []string
	for cu, err := range w.V1Customers.List(t.Context(), &api.CustomerListParams{ListParams: api.ListParams{Limit: api.Int64(2)}}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cu.ID)
	}
	if diff := cmp.Diff(ids, all); diff != "" {
		t.Errorf("page by page (-want +got):\n%s", diff)
	}
}

func TestCreatedFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := start.Unix()
	for i := range 3 {
		w.clock.Set(start.AddDate(0, 0, i))
		w.customer("ada@example.test")
	}
	day := int64(24 * 60 * 60)
	for query, want := range map[string]int{
		fmt.Sprintf("created=%d", at+day):                              1,
		fmt.Sprintf("created[gt]=%d", at):                              2,
		fmt.Sprintf("created[gte]=%d&created[lt]=%d", at, at+2*day):    2,
		fmt.Sprintf("created[lte]=%d&email=ada%%40example.test", at-1): 0,
		"email=nobody%40example.test":                                  0,
	} {
		_, body := w.call("GET", "/v1/customers?"+query, "", nil)
		var got struct{ Data []api.Customer }
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Data) != want {
			t.Errorf("%s lists %d, want %d (%v)", query, len(got.Data), want, err)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	list := &api.SubscriptionListParams{}
	list.AddExpand("data.customer")
	list.AddExpand("data.items.data.price.product") // one level too deep
	for _, err := range w.V1Subscriptions.List(t.Context(), list).All(t.Context()) {
		refused(t, err, http.StatusBadRequest, "", "expand")
	}
	list = &api.SubscriptionListParams{}
	list.AddExpand("data.customer")
	list.AddExpand("data.latest_invoice.payments")
	for s, err := range w.V1Subscriptions.List(t.Context(), list).All(t.Context()) {
		if err != nil || s.Customer.Email != "ada@example.test" || s.LatestInvoice.Payments == nil {
			t.Errorf("list with data.customer: %+v, %v", s, err)
		}
	}
	one := &api.SubscriptionRetrieveParams{}
	one.AddExpand("items.data.price.product")
	one.AddExpand("default_payment_method")
	one.AddExpand("pending_setup_intent") // null stays null
	got := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(t.Context(), sub.ID, one))
	if got.Items.Data[0].Price.Product.Name != "Starter" || got.DefaultPaymentMethod.Card.Last4 != "4242" {
		t.Errorf("expanded: %+v", got)
	}
	cu := &api.CustomerRetrieveParams{}
	cu.AddExpand("subscriptions.data.latest_invoice")
	if got := must[*api.Customer](t)(w.V1Customers.Retrieve(t.Context(), session.Customer.ID, cu)); len(got.Subscriptions.Data) != 1 || got.Subscriptions.Data[0].LatestInvoice.Number == "" {
		t.Errorf("the customer's subscriptions: %+v", got.Subscriptions)
	}
	for _, path := range []string{"status", "colour", "customer.colour", "items.data.subscription", "metadata"} {
		bad := &api.SubscriptionUpdateParams{Metadata: map[string]string{"a": "b"}}
		bad.AddExpand(path)
		_, err := w.V1Subscriptions.Update(t.Context(), sub.ID, bad)
		if err == nil {
			t.Errorf("%s can be expanded", path)
			continue
		}
		refused(t, err, http.StatusBadRequest, "", "expand")
	}
	if got := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(t.Context(), sub.ID, nil)); len(got.Metadata) > 0 {
		t.Error("an update that was refused had an effect")
	}
}
