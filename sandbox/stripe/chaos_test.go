package stripe_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/testkit"
)

// control sends a request to one of the sandbox's own endpoints.
func (w *world) control(method, path, body string) (status int, answer string) {
	w.t.Helper()
	res, answer := w.call(method, path, body, map[string]string{"Content-Type": "application/json", "Authorization": ""})
	return res.StatusCode, strings.TrimSpace(answer)
}

func (w *world) chaos(settings string) {
	w.t.Helper()
	if status, answer := w.control("PUT", "/chaos", settings); status != http.StatusOK {
		w.t.Fatalf("chaos returns %d %s", status, answer)
	}
}

const quietChaos = `{"data":{"webhooks":{"drop":0,"duplicate":0,"copies":2,"reorder":0,"delay":0,"max_delay_ms":1000},` +
	`"api":{"fail_before":0,"fail_after":0,"timeout_before":0,"timeout_after":0,"rate_limit":0,"status":503,"timeout_ms":30000},"seed":0}}`

func TestChaosSettingsAreStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if status, got := w.control("GET", "/chaos", ""); status != http.StatusOK || got != quietChaos {
		t.Errorf("at first %d %s", status, got)
	}
	w.chaos(`{"webhooks": {"drop": 0.5, "copies": 10}, "api": {"fail_after": 0.25, "status": 0}, "seed": 7}`)
	w.restart()
	want := `{"data":{"webhooks":{"drop":0.5,"duplicate":0,"copies":10,"reorder":0,"delay":0,"max_delay_ms":1000},` +
		`"api":{"fail_before":0,"fail_after":0.25,"timeout_before":0,"timeout_after":0,"rate_limit":0,"status":0,"timeout_ms":30000},"seed":7}}`
	if _, got := w.control("GET", "/chaos", ""); got != want {
		t.Errorf("after a restart %s", got)
	}
	w.chaos(`{}`)
	if _, got := w.control("GET", "/chaos", ""); got != quietChaos {
		t.Errorf("at the end: %s", got)
	}
}

func TestChaosIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, c := range map[string]struct {
		status int
		field  string
	}{
		`{"webhooks": {"drop": 1.01}}`:                          {422, "webhooks.drop"},
		`{"webhooks": {"duplicate": -0.1}}`:                     {422, "webhooks.duplicate"},
		`{"webhooks": {"copies": 1}}`:                           {422, "webhooks.copies"},
		`{"webhooks": {"copies": 11}}`:                          {422, "webhooks.copies"},
		`{"webhooks": {"copies": 2.5}}`:                         {422, "webhooks.copies"},
		`{"webhooks": {"reorder": "0.5"}}`:                      {422, "webhooks.reorder"},
		`{"webhooks": {"max_delay_ms": 3600001}}`:               {422, "webhooks.max_delay_ms"},
		`{"webhooks": {"lose": 1}}`:                             {422, "webhooks.lose"},
		`{"webhooks": []}`:                                      {422, "webhooks"},
		`{"api": {"status": 499}}`:                              {422, "api.status"},
		`{"api": {"status": 600}}`:                              {422, "api.status"},
		`{"api": {"timeout_ms": 120001}}`:                       {422, "api.timeout_ms"},
		`{"api": {"timeout_before": 0.6, "fail_after": 0.401}}`: {422, "api"},
		`{"seed": -1}`:                                          {422, "seed"},
		`{"Seed": 1}`:                                           {422, "Seed"},
		`[]`:                                                    {422, "body"},
		`{"seed": 1`:                                            {400, ""},
		`{"seed": 1} {}`:                                        {400, ""},
		`{"seed": 1, "seed": 2}`:                                {400, ""},
		``:                                                      {400, ""},
		strings.Repeat(" ", 1<<20+1):                            {413, ""},
	} {
		status, got := w.control("PUT", "/chaos", body)
		if status != c.status || c.field != "" && !strings.Contains(got, `"`+c.field+`":["The`) && !strings.Contains(got, `"`+c.field+`":["There is no `) {
			t.Errorf("%.60s returns %d %s, want %d about %q", body, status, got, c.status, c.field)
		}
	}
	if res, _ := w.call("PUT", "/chaos", "seed=1", nil); res.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a form returns %d", res.StatusCode)
	}
	if _, got := w.control("GET", "/chaos", ""); got != quietChaos {
		t.Errorf("a refused change has an effect: %s", got)
	}
}

func TestChaosPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.open(http.MethodGet, "/sandbox/chaos", nil); got.status != http.StatusOK || !strings.Contains(got.body, "Chaos is off.") ||
		!strings.Contains(got.body, `<label for="webhooks.drop">`) || strings.Contains(got.body, "<script>") {
		t.Errorf("page: %d\n%s", got.status, got.body)
	}
	got := w.open(http.MethodPost, "/sandbox/chaos", url.Values{"webhooks.drop": {"0.5"}, "seed": {"3"}, "api.status": {"500"}})
	if got.status != http.StatusSeeOther || got.location != "/sandbox/chaos" {
		t.Errorf("applied: %d to %q", got.status, got.location)
	}
	if got := w.open(http.MethodGet, "/sandbox/chaos", nil); strings.Contains(got.body, "Chaos is off.") || !strings.Contains(got.body, `name="webhooks.drop" type="number" value="0.5"`) {
		t.Errorf("applied:\n%s", got.body)
	}
	for name, form := range map[string]url.Values{
		"no number":   {"webhooks.drop": {`"><script>`}},
		"NaN":         {"webhooks.drop": {"NaN"}},
		"beyond":      {"webhooks.drop": {"2"}},
		"not whole":   {"seed": {"0.5"}},
		"too much":    {"api.fail_before": {"0.6"}, "api.fail_after": {"0.6"}},
		"no failure":  {"api.status": {"404"}},
		"out of sort": {"webhooks.copies": {"99999999999999999999"}},
	} {
		got := w.open(http.MethodPost, "/sandbox/chaos", form)
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `class="error"`) || strings.Contains(got.body, "<script>") {
			t.Errorf("%s: %d\n%s", name, got.status, got.body)
		}
	}
	if got := w.open(http.MethodPost, "/sandbox/chaos", nil); got.status != http.StatusSeeOther {
		t.Errorf("ended: %d", got.status)
	}
	if _, got := w.control("GET", "/chaos", ""); got != quietChaos {
		t.Errorf("ended: %s", got)
	}
}

// customers ends the fault injection and returns the number of customers.
func (w *world) customers() (n int) {
	w.t.Helper()
	w.chaos(`{}`)
	for _, err := range w.V1Customers.List(w.t.Context(), nil).All(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		n++
	}
	return n
}

func TestCallsFailBeforeOrAfter(t *testing.T) {
	t.Parallel()
	for settings, c := range map[string]struct {
		status int // 0 means no response
		effect bool
	}{
		`{"api": {"fail_before": 1}}`:                     {503, false},
		`{"api": {"fail_after": 1, "status": 500}}`:       {500, true},
		`{"api": {"fail_before": 1, "status": 0}}`:        {0, false},
		`{"api": {"fail_after": 1, "status": 0}}`:         {0, true},
		`{"api": {"timeout_before": 1, "timeout_ms": 5}}`: {0, false},
		`{"api": {"timeout_after": 1, "timeout_ms": 5}}`:  {0, true},
	} {
		w := newWorld(t)
		w.chaos(settings)
		key := api.String("the-key")
		params := &api.CustomerCreateParams{Email: api.String("ada@example.test")}
		params.IdempotencyKey = key
		_, err := w.V1Customers.Create(t.Context(), params)
		var answered *api.Error
		if errors.As(err, &answered) != (c.status != 0) || err == nil || answered != nil && answered.HTTPStatusCode != c.status {
			t.Errorf("%s: %v", settings, err)
		}
		want := 0
		if c.effect {
			want = 1
		}
		if got := w.customers(); got != want {
			t.Errorf("%s: %d customers, want %d", settings, got, want)
		}
		if c.status != 0 { // the response was stored, as Stripe stores failures too
			_, err := w.V1Customers.Create(t.Context(), params)
			if !errors.As(err, &answered) || answered.HTTPStatusCode != c.status || answered.LastResponse.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s: the retry returns %v", settings, err)
			}
			if got := w.customers(); got != want {
				t.Errorf("%s: %d customers after the retry, want %d", settings, got, want)
			}
			continue
		}
		again := must[*api.Customer](t)(w.V1Customers.Create(t.Context(), params))
		if replayed := again.LastResponse.Header.Get("Idempotent-Replayed") == "true"; replayed != c.effect || w.customers() != 1 {
			t.Errorf("%s: the retry is a replay: %v", settings, replayed)
		}
	}
}

func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.chaos(`{"api": {"rate_limit": 1}}`)
	params := &api.CustomerCreateParams{}
	params.IdempotencyKey = api.String("the-key")
	_, err := w.V1Customers.Create(t.Context(), params)
	var refused *api.Error
	if !errors.As(err, &refused) || refused.HTTPStatusCode != http.StatusTooManyRequests || refused.Code != "rate_limit" {
		t.Errorf("got %v", err)
	}
	if n := w.customers(); n != 0 {
		t.Errorf("%d customers", n)
	}
	again := must[*api.Customer](t)(w.V1Customers.Create(t.Context(), params))
	if again.LastResponse.Header.Get("Idempotent-Replayed") != "" {
		t.Error("the refusal was stored under its idempotency key")
	}
}

func TestACallWithoutAnAnswerHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.chaos(`{"api": {"timeout_before": 1, "timeout_ms": 120000}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := w.V1Customers.Create(ctx, &api.CustomerCreateParams{})
	var slow net.Error
	if !errors.As(err, &slow) || !slow.Timeout() {
		t.Errorf("got %v, want the client's own timeout", err)
	}
}

func TestChaosAffectsOnlyTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.checkout(w.sold(1000, "eur", "month"), 1)
	w.chaos(`{"api": {"fail_before": 1}}`)
	if got := w.visit(http.MethodGet, session.ID, nil); got.status != http.StatusOK {
		t.Errorf("the page returns %d", got.status)
	}
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		t.Errorf("paying returns %d", got.status)
	}
	res, body := w.call("GET", "/v1/customers", "", nil)
	if res.StatusCode != 503 || res.Header.Get("Sandbox-Chaos") != "fail_before" || checkObject("error", []byte(body)) != nil {
		t.Errorf("the API returns %d %v %s", res.StatusCode, res.Header, body)
	}
}

func TestChaosIsRepeatable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const calls = 200
	outcome := func(seed int) (hits int, all string) {
		w.chaos(fmt.Sprintf(`{"api": {"fail_before": 0.2, "fail_after": 0.2}, "seed": %d}`, seed))
		for range calls {
			res, _ := w.call("GET", "/v1/account", "", nil)
			name := res.Header.Get("Sandbox-Chaos")
			if name != "" {
				hits++
			}
			all += name + " "
		}
		return hits, all
	}
	hits, first := outcome(1)
	if hits < calls/4 || hits > calls*11/20 { // 80 ± five standard deviations
		t.Errorf("%d of %d calls were hit, want about two in five", hits, calls)
	}
	if _, again := outcome(1); again != first {
		t.Error("the same seed hits other calls")
	}
	if _, other := outcome(2); other == first {
		t.Error("another seed hits the same calls")
	}
}

// arrived waits until no webhook is pending. It returns the customer names in the webhooks, in
// order of arrival.
func (w *world) arrived(r *receiver) []string {
	w.t.Helper()
	testkit.Eventually(w.t, "the background work", func() bool {
		_, got := w.control("GET", "/replay", "")
		return got == `{"data":{"pending":0}}`
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, e := range r.taken {
		names = append(names, e.GetObjectValue("name"))
	}
	r.taken = nil
	return names
}

// renamed creates a customer and renames it several times. It returns the names in order.
func (w *world) renamed(times int) []string {
	w.t.Helper()
	cu := w.customer("ada@example.test")
	names := []string{cu.Name}
	for n := range times {
		names = append(names, fmt.Sprintf("%02d", n))
		must[*api.Customer](w.t)(w.V1Customers.Update(w.t.Context(), cu.ID, &api.CustomerUpdateParams{Name: &names[n+1]}))
	}
	return names
}

func TestChaosOfWebhooks(t *testing.T) {
	t.Parallel()
	const renames = 15
	thrice := func(names []string) (all []string) {
		for _, name := range names {
			all = append(all, name, name, name)
		}
		return all
	}
	for settings, c := range map[string]struct {
		ordered bool
		want    func(names []string) []string
	}{
		`{"webhooks": {"drop": 1}}`:                                        {true, func([]string) []string { return nil }},
		`{"webhooks": {"duplicate": 1, "copies": 3}}`:                      {true, thrice},
		`{"webhooks": {"delay": 1, "max_delay_ms": 20}}`:                   {true, func(names []string) []string { return names }},
		`{"webhooks": {"reorder": 1, "max_delay_ms": 300}}`:                {false, func(names []string) []string { return names }},
		`{"webhooks": {"reorder": 1, "duplicate": 1, "copies": 3}}`:        {false, thrice},
		`{"api": {"fail_before": 0, "timeout_before": 0}, "seed": 123456}`: {true, func(names []string) []string { return names }},
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t)
			w := newWorld(t, r.config)
			w.run()
			w.chaos(settings)
			want := c.want(w.renamed(renames))
			got := w.arrived(r)
			inOrder := slices.Equal(got, want)
			if inOrder != c.ordered {
				t.Errorf("reordered events arrive in order: %v\n%v", inOrder, got)
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			for e, err := range w.V1Events.List(t.Context(), nil).All(t.Context()) {
				if err != nil || e.PendingWebhooks != 0 {
					t.Errorf("an event is still on its way: %v", err)
				}
			}
		})
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newWorld(t, r.config)
	w.run()
	names := w.renamed(9)
	w.arrived(r)
	w.chaos(`{"webhooks": {"drop": 1}}`) // does not affect the replay
	replay := func(body, want string) []string {
		t.Helper()
		if status, got := w.control("POST", "/replay", body); status != http.StatusOK || got != want {
			t.Fatalf("%s returns %d %s", body, status, got)
		}
		return w.arrived(r)
	}
	if got := replay(`{}`, `{"data":{"events":10,"deliveries":10,"pending":10}}`); !slices.Equal(got, names) {
		t.Errorf("replayed: %v", got)
	}
	got := replay(`{"times": 3, "shuffle": true, "seed": 4}`, `{"data":{"events":10,"deliveries":30,"pending":30}}`)
	if slices.IsSorted(got) || len(got) != 30 {
		t.Errorf("%d shuffled: %v", len(got), got)
	}
	if got := replay(`{"share": 0.5, "seed": 1}`, `{"data":{"events":5,"deliveries":5,"pending":5}}`); len(got) != 5 {
		t.Errorf("a share: %v", got)
	}
	for body, field := range map[string]string{
		`{"times": 0}`: "times", `{"times": 21}`: "times", `{"share": 1.5}`: "share", `{"share": -1}`: "share",
		`{"seed": -1}`: "seed", `{"shuffle": 1}`: "shuffle", `{"often": 1}`: "often",
	} {
		if status, got := w.control("POST", "/replay", body); status != 422 || !strings.Contains(got, `"`+field+`":[`) {
			t.Errorf("%s returns %d %s", body, status, got)
		}
	}
	if status, _ := newWorld(t).control("POST", "/replay", `{}`); status != http.StatusConflict {
		t.Errorf("without a receiver: %d", status)
	}
}
