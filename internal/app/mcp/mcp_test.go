package mcp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenantry/tenantry/internal/app/mcp"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

// readingScopes are the scopes that all read-only tools need.
var readingScopes = []string{"tenants.read", "subscription.read", "entitlements.read", "usage.read", "invoices.read", "team.read"}

// assistant is an MCP client of a server.
type assistant struct {
	t       *testing.T
	session *sdk.ClientSession
}

func connect(t *testing.T, at, key string, writes bool) assistant {
	t.Helper()
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := sdk.NewInMemoryTransports()
	server, err := mcp.New(mcp.Config{URL: base, Key: key, AllowWrites: writes, Version: "test"}).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() })
	session, err := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "test"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return assistant{t, session}
}

// keyOf creates a platform API key.
func keyOf(s *apptest.Server, scopes ...string) string {
	s.T.Helper()
	return s.Call("POST", "/api/v1/admin/api-keys", s.Admin(), apptest.Object{"name": "Assistant", "scopes": scopes}).Want(201).Str("data.secret")
}

// try calls a tool and returns its result or its error text.
func (a assistant) try(tool string, arguments apptest.Object) (found map[string]any, refusal string) {
	a.t.Helper()
	result, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		return nil, text
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		a.t.Fatalf("%s: %v in %s", tool, err, text)
	}
	return found, ""
}

// ask calls a tool that must succeed.
func (a assistant) ask(tool string, arguments apptest.Object) map[string]any {
	a.t.Helper()
	found, refusal := a.try(tool, arguments)
	if refusal != "" {
		a.t.Fatalf("%s: %s", tool, refusal)
	}
	return found
}

// at returns the value at a path of keys. Digits are list indexes from 0.
func at(t *testing.T, value any, path string) any {
	t.Helper()
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			if len(v) <= int(key[0]-'0') {
				t.Fatalf("no %s in a list of %d", path, len(v))
			}
			value = v[key[0]-'0']
		default:
			t.Fatalf("no %s in %v", path, value)
		}
	}
	return value
}

func TestAssistantTools(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 950}).Want(201)
		a := connect(t, s.URL, keyOf(s, readingScopes...), false)

		name := at(t, a.ask("find_tenants", apptest.Object{}), "data.0.name")
		if none := a.ask("find_tenants", apptest.Object{"search": "nobody has this name"}); len(at(t, none, "data").([]any)) != 0 {
			t.Errorf("found %v", none)
		}
		found := a.ask("find_tenants", apptest.Object{"search": name})
		if id := at(t, found, "data.0.id"); id != ada.Tenant {
			t.Fatalf("found %v, want %v", id, ada.Tenant)
		}
		if found["links"] != nil {
			t.Error("list contains pagination links")
		}
		of := apptest.Object{"tenant": ada.Tenant}
		for _, tt := range []struct {
			tool      string
			arguments apptest.Object
			path      string
			want      any
		}{
			{"show_tenant", of, "tenant.owner.email", "ada@example.com"},
			{"show_tenant", of, "subscription.plan.name", "Starter"},
			{"show_tenant", of, "seats.members", 1.0},
			{"show_tenant", of, "entitlements.0.key", "api-calls"},
			{"list_members", of, "members.data.0.email", "ada@example.com"},
			{"list_members", of, "invitations.data", []any{}},
			{"show_usage", of, "usage.meters.0.current_usage", 950.0},
			{"show_usage", of, "quotas.meters.0.quota_limit", 1000.0},
			{"show_usage", of, "cost_estimate.currency", "EUR"},
			{"list_invoices", of, "data.0.total.amount_cents", 1900.0},
			{"list_invoices", apptest.Object{"tenant": ada.Tenant, "status": "open"}, "data", []any{}},
			{"list_plans", of, "data.1.slug", "starter"},
			{"what_failed", of, "subscription.status", "active"},
			{"what_failed", of, "open_invoices", []any{}},
			{"what_failed", of, "quotas.0.meter_code", "api-calls"},
		} {
			got := at(t, a.ask(tt.tool, tt.arguments), tt.path)
			if empty, ok := tt.want.([]any); ok {
				if list, isList := got.([]any); !isList || len(list) != len(empty) {
					t.Errorf("%s: %s is %v, want an empty list", tt.tool, tt.path, got)
				}
			} else if got != tt.want {
				t.Errorf("%s: %s is %v, want %v", tt.tool, tt.path, got, tt.want)
			}
		}

		series := a.ask("show_usage", apptest.Object{"tenant": ada.Tenant, "meter": "api-calls", "interval": "day"})
		if text, _ := json.Marshal(series["series"]); !strings.Contains(string(text), "950") {
			t.Errorf("series does not contain 950: %s", text)
		}
		listed := a.ask("list_invoices", of)
		if lines := at(t, listed, "data.0").(map[string]any)["lines"]; lines != nil {
			t.Error("a list of invoices has their lines")
		}
		invoice := a.ask("show_invoice", apptest.Object{"tenant": ada.Tenant, "invoice": at(t, listed, "data.0.id")})
		if quantity := at(t, invoice, "data.lines.0.quantity"); quantity != 1.0 {
			t.Errorf("the invoice's line has the quantity %v", quantity)
		}
		plans := a.ask("list_plans", of)
		preview := a.ask("preview_plan_change", apptest.Object{"tenant": ada.Tenant, "plan": at(t, plans, "data.2.id"), "seats": 3})
		if at(t, preview, "data") == nil {
			t.Errorf("the preview is %v", preview)
		}
	})
}

// TestRefusalsAreReadable checks that a model can understand errors and correct its requests.
func TestRefusalsAreReadable(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		all := connect(t, s.URL, keyOf(s, readingScopes...), false)
		narrow := connect(t, s.URL, keyOf(s, "tenants.read"), false)
		wrong := connect(t, s.URL, "tnk_wrong", false)
		for _, tt := range []struct {
			name      string
			by        assistant
			tool      string
			arguments apptest.Object
			want      []string
		}{
			{"a wrong key", wrong, "find_tenants", apptest.Object{}, []string{"401", "The API key is invalid"}},
			{"a missing scope", narrow, "list_invoices", apptest.Object{"tenant": ada.Tenant}, []string{"403 (insufficient_scope)", "does not have the required scope"}},
			{"an unknown tenant", all, "show_tenant", apptest.Object{"tenant": "0199a209-d5e8-7132-9b58-d2490a823611"}, []string{"404"}},
			{"a path in place of an id", all, "show_tenant", apptest.Object{"tenant": ".."}, []string{`".." cannot be used in a path`}},
			{"an escaped path", all, "show_tenant", apptest.Object{"tenant": "../api-keys"}, []string{"404"}},
			{"an unknown status", all, "list_invoices", apptest.Object{"tenant": ada.Tenant, "status": "late"}, []string{"422", "status: "}},
			{"a missing argument", all, "show_tenant", apptest.Object{}, []string{"tenant"}},
		} {
			found, refusal := tt.by.try(tt.tool, tt.arguments)
			for _, want := range tt.want {
				if !strings.Contains(refusal, want) {
					t.Errorf("%s: rejected with %q and found %v, want %q", tt.name, refusal, found, want)
				}
			}
			if strings.Contains(refusal, "tnk_") {
				t.Errorf("%s: the refusal has the key: %s", tt.name, refusal)
			}
		}
		// A part that the key cannot read contains the error message.
		partly := narrow.ask("show_tenant", apptest.Object{"tenant": ada.Tenant})
		if text, _ := partly["seats"].(string); !strings.Contains(text, "insufficient_scope") {
			t.Errorf("seats are %v", partly["seats"])
		}
		if got := at(t, all.ask("show_tenant", apptest.Object{"tenant": ada.Tenant}), "subscription"); got != nil {
			t.Errorf("a tenant without a subscription has %v", got)
		}
	})
}

// TestWritesAreOffByDefault checks that an assistant can change data only if the operator allows
// it, and only once per idempotency key.
func TestWritesAreOffByDefault(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		key := keyOf(s, append(readingScopes, "usage.write")...)
		tools := func(a assistant) (names []string) {
			list, err := a.session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				if changes := tool.Name == "record_usage"; tool.Annotations.ReadOnlyHint == changes {
					t.Errorf("%s: read-only is %v", tool.Name, !changes)
				}
			}
			return names
		}
		if names := tools(connect(t, s.URL, key, false)); len(names) != 9 || slices.Contains(names, "record_usage") {
			t.Errorf("without writes the tools are %v", names)
		}
		a := connect(t, s.URL, key, true)
		if names := tools(a); !slices.Contains(names, "record_usage") {
			t.Errorf("with writes the tools are %v", names)
		}
		use := apptest.Object{"tenant": ada.Tenant, "meter": "api-calls", "quantity": 2.5, "idempotency_key": "once"}
		a.ask("record_usage", use)
		if _, refusal := a.try("record_usage", use); !strings.Contains(refusal, "409") {
			t.Errorf("the second time: %q", refusal)
		}
		if used := at(t, a.ask("show_usage", apptest.Object{"tenant": ada.Tenant}), "usage.meters.0.current_usage"); used != 2.5 {
			t.Errorf("used are %v", used)
		}
		// The quantity has more digits than a float can represent.
		a.ask("record_usage", apptest.Object{
			"tenant": ada.Tenant, "meter": "storage-gb", "quantity": json.Number("123456789012.123456"), "idempotency_key": "exact",
		})
		if n := s.CountRows(`SELECT count(*) FROM usage_events WHERE quantity = 123456789012123456`); n != 1 {
			t.Errorf("%d events have all digits, want 1", n)
		}
	})
}

// TestForeignAnswers checks the errors for a server that is not Tenantry and for an unreachable
// server. The client must not send the key to a redirect target or read a response of unlimited
// size.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the key went elsewhere") }))
	defer elsewhere.Close()
	answers := map[string]http.HandlerFunc{
		"is not a Tenantry service": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"returned 502":              func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"returned 307": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"response of the service is too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"data": "` + strings.Repeat("x", 5<<20) + `"}`))
		},
		"result is too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"data": "` + strings.Repeat("x", 100<<10) + `"}`))
		},
	}
	for want, answer := range answers {
		there := httptest.NewServer(answer)
		defer there.Close()
		if _, refusal := connect(t, there.URL, "tnk_x", false).try("find_tenants", apptest.Object{}); !strings.Contains(refusal, want) {
			t.Errorf("rejected with %.200q, want %q", refusal, want)
		}
	}
	if _, refusal := connect(t, "http://127.0.0.1:1", "tnk_x", false).try("find_tenants", apptest.Object{}); !strings.Contains(refusal, "the service is unreachable") {
		t.Errorf("rejected with %q", refusal)
	}
}
