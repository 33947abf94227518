package psp_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/psp"
)

// replaying returns a provider that fails the first write and then replays that failure for the
// same key. answer handles all other requests.
func replaying(t *testing.T, status int, answer http.HandlerFunc) *fake {
	t.Helper()
	first := ""
	return newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		key := r.Header.Get("Idempotency-Key")
		switch {
		case r.Method != http.MethodPost:
			answer(w, r)
		case first == "":
			first = key
			panic(http.ErrAbortHandler) // the response is lost
		case first == key:
			w.Header().Set("Idempotent-Replayed", "true")
			replyError(w, status, "api_error", "", "kept")
		default:
			answer(w, r)
		}
	})
}

func TestRepeatedFailures(t *testing.T) {
	t.Parallel()
	writes := map[string]struct {
		write func(ctx context.Context, c *psp.Client) error
		found string // the provider's response to a lookup if the write was done
	}{
		"customer": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.CreateCustomer(ctx, psp.CustomerParams{Key: "stored", TenantID: "t1"})
			return err
		}, `{"object": "list", "data": [{"id": "cus_2", "metadata": {}}, {"id": "cus_1", "metadata": {"tenant_id": "t1"}}]}`},
		"product": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.CreateProduct(ctx, psp.ProductParams{Key: "stored", ID: "prod_1", Name: "Team"})
			return err
		}, `{"id": "prod_1", "active": true}`},
		"change": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.ChangeSubscription(ctx, psp.Change{SubscriptionID: "sub_1", ItemID: "si_1", PriceID: "price_1", Quantity: 3}, nil, "stored")
			return err
		}, subscriptionJSON},
		"quantity": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.SetQuantity(ctx, psp.Change{SubscriptionID: "sub_1", ItemID: "si_1", Quantity: 3}, false, "stored")
			return err
		}, subscriptionJSON},
		"cancellation": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.SetCancelAtPeriodEnd(ctx, "sub_1", false, "stored")
			return err
		}, subscriptionJSON},
	}
	for name, tt := range writes {
		for _, status := range []int{400, 402, 500} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				found := replaying(t, status, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, tt.found) })
				if err := tt.write(t.Context(), found.client(t)); err != nil {
					t.Errorf("%d, done before: %v", status, err)
				}
				if n := posts(found); n != 2 {
					t.Errorf("%d, done before: written %d times", status, n)
				}
				absent := replaying(t, status, func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						reply(w, 200, tt.found)
						return
					}
					switch {
					case strings.HasPrefix(r.URL.Path, "/v1/subscriptions"):
						other := strings.NewReplacer(`"price_1"`, `"price_0"`, `"quantity": 3`, `"quantity": 1`, `"cancel_at_period_end": false`, `"cancel_at_period_end": true`)
						reply(w, 200, other.Replace(subscriptionJSON))
					case r.URL.Path == "/v1/customers":
						reply(w, 200, `{"object": "list", "data": []}`)
					default:
						replyError(w, 404, "invalid_request_error", "resource_missing", "No such object")
					}
				})
				if err := tt.write(t.Context(), absent.client(t)); err != nil {
					t.Errorf("%d, not done: %v", status, err)
				}
				keys := map[string]int{}
				for _, r := range absent.requests() {
					if r.method == http.MethodPost {
						keys[r.key]++
					}
				}
				if posts(absent) != 3 || len(keys) != 2 {
					t.Errorf("%d, not done: written under %v", status, keys)
				}
			})
		}
	}
}

// Callers that repeat a write concurrently use the same next key, so that the provider makes the
// write once. With different keys, two callers that both read that it was not done would make it
// twice.
func TestRepeatedFailureOfCallersAtTheSameTime(t *testing.T) {
	t.Parallel()
	const callers, failures = 4, 3
	api := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		key := r.Header.Get("Idempotency-Key")
		switch {
		case r.Method != http.MethodPost:
			replyError(w, 404, "invalid_request_error", "resource_missing", "No such object")
		case key == "stored" || key == "stored-2" || key == "stored-3":
			w.Header().Set("Idempotent-Replayed", "true")
			replyError(w, 500, "api_error", "", "kept")
		default:
			reply(w, 200, `{"id": "prod_1", "object": "product", "active": true}`)
		}
	})
	client := api.client(t)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if _, err := client.CreateProduct(t.Context(), psp.ProductParams{Key: "stored", ID: "prod_1", Name: "Team"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	keys := map[string]int{}
	for _, r := range api.requests() {
		if r.method == http.MethodPost {
			keys[r.key]++
		}
	}
	if len(keys) != failures+1 || keys["stored-4"] != callers {
		t.Errorf("written under %v", keys)
	}
}

func posts(f *fake) (n int) {
	for _, r := range f.requests() {
		if r.method == http.MethodPost {
			n++
		}
	}
	return n
}

// While it is unknown whether a write was done, it is not repeated.
func TestRepeatedFailureThatCannotBeReadBack(t *testing.T) {
	t.Parallel()
	api := replaying(t, 500, func(w http.ResponseWriter, _ *http.Request) { replyError(w, 500, "api_error", "", "later") })
	_, err := api.client(t).SetQuantity(t.Context(), psp.Change{SubscriptionID: "sub_1", ItemID: "si_1", Quantity: 3}, false, "stored")
	checkPSPError(t, err)
	if n := posts(api); n != 2 {
		t.Errorf("written %d times", n)
	}
}
