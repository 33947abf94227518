package tenantrytest_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/tenantrytest"
)

// A user signs up in the example examples/go, gets an error when the quota of the default plan is
// exhausted, and buys a larger plan.
func TestShop(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	shop := openShop(t, s)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	read := func(resp *http.Response, err error) (int, string, *url.URL) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text), resp.Request.URL
	}
	post := func(path string, form url.Values) (int, string, *url.URL) {
		t.Helper()
		return read(browser.PostForm(shop+path, form))
	}
	if status, text, _ := post("/signup", url.Values{"name": {"Ada"}}); status != 422 || !strings.Contains(text, "email") {
		t.Errorf("signing up without an email: %d %s", status, text)
	}
	status, page, _ := post("/signup", url.Values{
		"name": {"Ada"}, "email": {"ada@example.com"}, "password": {"correct horse battery"},
		"address": {"12 St James Square"}, "postal_code": {"SW1Y 4JH"}, "city": {"London"}, "country": {"GB"},
	})
	plan := regexp.MustCompile(`value="([0-9a-f-]{36})">Buy Starter<`).FindStringSubmatch(page)
	if status != 200 || plan == nil || !strings.Contains(page, "0 of 100 words used") {
		t.Fatalf("after signing up: %d %s", status, page)
	}
	if !strings.Contains(page, "<p>Your plan</p>") || strings.Contains(page, "Buy Free") {
		t.Errorf("the default plan is not marked: %s", page)
	}
	hooks := s.Webhooks(api.WebhookEventTypeUsageQuotaReached)
	if status, page, _ = post("/work", url.Values{"text": {"good morning"}}); status != 200 || !strings.Contains(page, "GOOD MORNING") {
		t.Errorf("working: %d %s", status, page)
	}
	if status, page, _ = post("/work", url.Values{"text": {strings.Repeat("word ", 98)}}); status != 200 {
		t.Errorf("working up to the quota: %d %s", status, page)
	}
	if e := hooks.Await(api.WebhookEventTypeUsageQuotaReached, tenantOf(t, s, "ada@example.com")); e.ID == "" {
		t.Error("no webhook event when the quota is reached")
	}
	login, err := s.Client().Login(t.Context(), api.LoginRequest{Email: "ada@example.com", Password: "correct horse battery"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shop+"/api/plan", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		status, text, _ := read(browser.Do(r))
		return status, text
	}
	if status, text := ask(issueToken(t, s.URL, *login.AccessToken)); status != 200 || !strings.Contains(text, `"plan":"free"`) {
		t.Errorf("the plan: %d %s", status, text)
	}
	if status, _ := ask(*login.AccessToken); status != 401 {
		t.Errorf("the plan with an access token: %d", status)
	}
	if status, page, _ = post("/work", url.Values{"text": {"more"}}); status != 429 || !strings.Contains(page, "Your plan does not allow that much.") {
		t.Errorf("working over the quota: %d %s", status, page)
	}
	_, _, checkout := post("/buy", url.Values{"plan": {plan[1]}})
	if checkout.Host == strings.TrimPrefix(shop, "http://") {
		t.Fatalf("purchase redirects to %s", checkout)
	}
	s.Pay(checkout.String(), tenantrytest.CardPays)
	if status, page, _ = post("/work", url.Values{"text": {"more"}}); status != 200 || !strings.Contains(page, "of 1000 words used") || strings.Contains(page, "Buy ") {
		t.Errorf("working after paying: %d %s", status, page)
	}
}

// tenantOf returns the tenant whose owner has the email.
func tenantOf(t *testing.T, s *tenantrytest.Server, email string) string {
	t.Helper()
	for tenant, err := range s.Admin().AdminListTenantsAll(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if owner, err := tenant.Owner.Get(); err == nil && owner.Email == email {
			return tenant.ID
		}
	}
	t.Fatalf("no tenant of %s", email)
	return ""
}

// openShop builds and starts the example and returns its URL. The example stops before the service.
func openShop(t *testing.T, s *tenantrytest.Server) string {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(folder, "shop")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "../examples/go"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shop := exec.Command(program)
	shop.Dir = folder
	shop.Env = append(os.Environ(), "SHOP_ADDR=127.0.0.1:0", "TENANTRY_URL="+s.URL, "TENANTRY_KEY="+s.PlatformKey(api.APIKeyScopeUsageWrite))
	log, err := shop.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shop.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		if err := shop.Wait(); err != nil {
			t.Errorf("the shop ended with %v", err)
		}
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "open at "); found {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return address
		}
		t.Log(lines.Text())
	}
	t.Fatal("the shop did not open")
	return ""
}
