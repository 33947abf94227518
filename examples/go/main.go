// Command shop is a small product that is sold with Tenantry. Customers sign up with the default
// plan, convert text to upper case, and buy a larger plan. The number of words is metered.
package main

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/client/usage"
)

// meter is the meter that counts words. The plans contain its quota.
const meter = "api-calls"

//go:embed page.html
var pages embed.FS

type shop struct {
	tenantry, self string // base URLs
	page           *template.Template
	recorder       *usage.Recorder
	platform       *client.Client
	mu             sync.Mutex
	customers      map[string]*customer // by session
}

// customer is a logged-in user.
type customer struct {
	*client.Client
	Tenant string
}

// view is the data of the page.
type view struct {
	Customer *customer
	Plans    []api.Plan
	Meter    *api.MeterQuota
	Result   string
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", os.Getenv("SHOP_ADDR"))
	if err != nil {
		return err
	}
	s := &shop{
		tenantry: os.Getenv("TENANTRY_URL"), self: "http://" + listener.Addr().String(),
		page: template.Must(template.ParseFS(pages, "page.html")), customers: map[string]*customer{},
	}
	platform, err := client.New(s.tenantry, client.WithAPIKey(os.Getenv("TENANTRY_KEY")))
	if err != nil {
		return err
	}
	s.platform = platform
	s.recorder, err = usage.NewRecorder(platform, usage.Options{
		Journal:   "usage.journal",
		OnRefused: func(e usage.Event, err error) { log.Printf("usage of %s: %v", e.Tenant, err) },
		OnError:   func(err error) { log.Print(err) },
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.handle(s.show))
	mux.HandleFunc("POST /signup", s.handle(s.signUp))
	mux.HandleFunc("POST /buy", s.handle(s.buy))
	mux.HandleFunc("POST /work", s.handle(s.work))
	mux.HandleFunc("GET /api/plan", s.plan)
	server := &http.Server{Handler: http.NewCrossOriginProtection().Handler(mux), ReadHeaderTimeout: 10 * time.Second}
	go func() { <-ctx.Done(); _ = server.Shutdown(context.Background()) }()
	log.Printf("the shop is open at %s", s.self)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.recorder.Close(last)
}

// plan responds with the user's plan. The request has the token that the user's frontend got from
// POST /api/v1/auth/token. plan makes no request to Tenantry.
func (s *shop) plan(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	claims, err := s.platform.VerifyToken(r.Context(), token)
	switch {
	case errors.Is(err, client.ErrInvalidToken):
		http.Error(w, "Log in again.", http.StatusUnauthorized)
	case err != nil:
		log.Print(err)
		http.Error(w, "Try again later.", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]string{"tenant": claims.TenantName, "plan": claims.Plan}); err != nil {
			log.Print(err)
		}
	}
}

// handle responds with the status of Tenantry's error, if f returned one.
func (s *shop) handle(f func(http.ResponseWriter, *http.Request, *customer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var who *customer
		if cookie, err := r.Cookie("session"); err == nil {
			s.mu.Lock()
			who = s.customers[cookie.Value]
			s.mu.Unlock()
		}
		if err := f(w, r, who); err != nil {
			status := client.StatusOf(err)
			if status == 0 {
				status = http.StatusInternalServerError
				log.Print(err)
			}
			http.Error(w, err.Error(), status)
		}
	}
}

// show shows the quota, and lists the plans if the customer can buy one.
func (s *shop) show(w http.ResponseWriter, r *http.Request, who *customer) error {
	return s.render(w, r, who, "")
}

func (s *shop) render(w http.ResponseWriter, r *http.Request, who *customer, result string) error {
	v := view{Customer: who, Result: result}
	if who != nil {
		subscription, err := who.ShowSubscription(r.Context(), who.Tenant)
		if err != nil {
			return err
		}
		if subscription.Data.IsNull() { // the default plan applies
			plans, err := who.ListPlans(r.Context(), &api.ListPlansParams{Currency: new("EUR")})
			if err != nil {
				return err
			}
			v.Plans = plans.Data
		}
		if v.Meter, err = s.quota(r.Context(), who); err != nil {
			return err
		}
	}
	return s.page.Execute(w, v)
}

// signUp creates an account with a tenant and logs its owner in.
func (s *shop) signUp(w http.ResponseWriter, r *http.Request, _ *customer) error {
	public, err := client.New(s.tenantry)
	if err != nil {
		return err
	}
	login, err := public.Register(r.Context(), api.RegisterRequest{
		Name: r.PostFormValue("name"), Email: r.PostFormValue("email"),
		Password: new(r.PostFormValue("password")), PasswordConfirmation: new(r.PostFormValue("password")),
	})
	if err != nil {
		return err
	}
	c, err := client.New(s.tenantry, client.WithTokens(client.Tokens{Access: *login.AccessToken, Refresh: *login.RefreshToken}))
	if err != nil {
		return err
	}
	text := func(field string) nullable.Nullable[string] {
		return nullable.NewNullableWithValue(r.PostFormValue(field))
	}
	tenant, err := c.CompleteOnboarding(r.Context(), api.CompleteOnboardingRequest{
		LegalName: text("name"), Address: text("address"), City: text("city"), PostalCode: text("postal_code"), Country: text("country"),
	})
	if err != nil {
		return err
	}
	session := rand.Text()
	s.mu.Lock()
	s.customers[session] = &customer{c, tenant.Data.ID}
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: "session", Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// buy redirects to the payment provider's page, which redirects back.
func (s *shop) buy(w http.ResponseWriter, r *http.Request, who *customer) error {
	if who == nil {
		return &client.Error{Status: http.StatusUnauthorized, Message: "Sign up first."}
	}
	checkout, err := who.CreateCheckout(r.Context(), who.Tenant, api.CreateCheckoutRequest{
		PlanID: r.PostFormValue("plan"), Currency: "EUR", SuccessURL: s.self, CancelURL: s.self,
	})
	if err != nil {
		return err
	}
	http.Redirect(w, r, checkout.Data.URL, http.StatusSeeOther)
	return nil
}

// work converts a text, if the plan's quota allows it.
func (s *shop) work(w http.ResponseWriter, r *http.Request, who *customer) error {
	if who == nil {
		return &client.Error{Status: http.StatusUnauthorized, Message: "Sign up first."}
	}
	quota, err := s.quota(r.Context(), who)
	if err != nil {
		return err
	}
	words := int64(len(strings.Fields(r.PostFormValue("text"))))
	used, err := quota.CurrentUsage.Int64()
	if err != nil {
		return err
	}
	if limit, err := quota.QuotaLimit.Get(); err == nil && used+words > limit {
		return &client.Error{Status: http.StatusTooManyRequests, Code: client.ErrQuotaExceeded, Message: "Your plan does not allow that much."}
	}
	if err := s.recorder.Record(r.Context(), usage.Event{Tenant: who.Tenant, Meter: meter, Quantity: usage.Whole(words)}); err != nil {
		return err
	}
	return s.render(w, r, who, strings.ToUpper(r.PostFormValue("text")))
}

// quota returns the quota and the current usage of the meter.
func (s *shop) quota(ctx context.Context, who *customer) (*api.MeterQuota, error) {
	quotas, err := who.ListQuotas(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	for _, q := range quotas.Data.Meters {
		if q.MeterCode == meter {
			return &q, nil
		}
	}
	return nil, fmt.Errorf("meter %s does not exist", meter)
}
