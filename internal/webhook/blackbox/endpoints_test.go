package blackbox_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		admin := s.Admin()
		for _, owner := range []endpointOwner{
			{"a tenant's endpoints", ada.Path("/webhook-endpoints"), ada.Token},
			{"the platform's endpoints", platform, admin},
		} {
			s.Run(t, owner.name, func(t *testing.T, s *apptest.Server) {
				first, second := owner.create(t, s)
				owner.change(t, s, first)
				owner.drop(s, first)
				refuseTerms(s, owner.base, owner.token, owner.base+"/"+second)
			})
		}
		// The platform cannot access a tenant's endpoint.
		s.Call("GET", platform+"/"+s.Call("GET", ada.Path("/webhook-endpoints"), ada.Token, nil).Str("data.0.id"), admin, nil).WantRefused(404, "")
		s.Run(t, "the audit log contains neither secrets nor paths", func(t *testing.T, s *apptest.Server) { auditedEndpoints(t, s, ada) })
		// Members lack the permission unless a custom role grants it, and it never extends to other
		// tenants.
		member, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		s.Call("GET", ada.Path("/webhook-endpoints"), member, nil).WantRefused(403, "")
		s.CreateRole(ada, "Keeper", "webhooks.manage")
		boss, _ := s.Join(ada, "Cy", "cy@example.com", "admin")
		s.Call("GET", ada.Path("/webhook-endpoints"), boss, nil).Want(200)
		keeper, _ := s.Join(ada, "Kit", "kit@example.com", "Keeper")
		s.Call("GET", ada.Path("/webhook-endpoints"), keeper, nil).Want(200)
		s.Impersonate(admin, ada).Want(200)
		s.Call("GET", ada.Path("/webhook-endpoints"), admin, nil).WantRefused(400, "")
	})
}

// endpointOwner is a tenant or the platform, with the path of its endpoints.
type endpointOwner struct{ name, base, token string }

// create creates two endpoints. It returns the first one and the ID of the second one.
func (owner endpointOwner) create(t *testing.T, s *apptest.Server) (made apptest.Reply, second string) {
	made = s.Call("POST", owner.base, owner.token, apptest.Object{
		"url": " https://example.com/hooks ", "events": []string{"invoice.paid", "api_key.created", "invoice.paid"}, "description": "Books",
	}).Want(201)
	secret := made.Str("data.secret")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !strings.HasPrefix(secret, "whsec_") || len(key) < 24 || len(key) > 64 {
		t.Errorf("the secret is %q", secret)
	}
	if diff := cmp.Diff(apptest.WithChanges(wantEndpoint(made), apptest.Object{"secret": secret}), made.At("data")); diff != "" {
		t.Error(diff)
	}
	other := s.Call("POST", owner.base, owner.token, apptest.Object{"url": "http://localhost:1/x", "events": []string{"*", "invoice.paid"}}).Want(201)
	other.WantAt("data.events", []any{"*"}).WantAt("data.description", nil)
	list := s.Call("GET", owner.base, owner.token, nil).Want(200)
	if diff := cmp.Diff([]any{other.Str("data.id"), made.Str("data.id")}, list.Column("id")); diff != "" || strings.Contains(list.Text, "whsec_") {
		t.Errorf("%s%s", diff, list.Text)
	}
	return made, other.Str("data.id")
}

// wantEndpoint returns the first endpoint as it is shown after its creation.
func wantEndpoint(made apptest.Reply) apptest.Object {
	made.T.Helper()
	return apptest.Object{
		"id": made.Str("data.id"), "url": "https://example.com/hooks", "events": []any{"invoice.paid", "api_key.created"},
		"description": "Books", "enabled": true, "disabled_reason": nil, "created_at": made.Str("data.created_at"), "last_delivery_at": nil,
	}
}

func (owner endpointOwner) change(t *testing.T, s *apptest.Server, made apptest.Reply) {
	secret, want := made.Str("data.secret"), wantEndpoint(made)
	one := owner.base + "/" + made.Str("data.id")
	show := s.Call("GET", one, owner.token, nil).Want(200)
	if diff := cmp.Diff(want, show.At("data")); diff != "" {
		t.Error(diff)
	}
	changed := s.Call("PATCH", one, owner.token, apptest.Object{
		"url": "https://example.com/other", "events": []string{"*"}, "description": nil, "enabled": false,
	}).Want(200)
	if diff := cmp.Diff(apptest.WithChanges(want, apptest.Object{
		"url": "https://example.com/other", "events": []any{"*"}, "description": nil, "enabled": false,
	}), changed.At("data")); diff != "" {
		t.Error(diff)
	}
	s.Call("PATCH", one, owner.token, apptest.Object{}).Want(200).WantAt("data.url", "https://example.com/other")
	rotated := s.Call("POST", one+"/rotate-secret", owner.token, nil).Want(200)
	if next := rotated.Str("data.secret"); next == secret || !strings.HasPrefix(next, "whsec_") || rotated.At("data.id") != made.At("data.id") {
		t.Errorf("rotated: %s", rotated.Text)
	}
}

// drop deletes the first endpoint, which is not found afterwards.
func (owner endpointOwner) drop(s *apptest.Server, made apptest.Reply) {
	one := owner.base + "/" + made.Str("data.id")
	s.Call("DELETE", one, owner.token, nil).Want(204)
	for _, gone := range []string{one, owner.base + "/" + apptest.NoSuchID, owner.base + "/x"} {
		for _, call := range []struct {
			method, path string
			body         any
		}{
			{"GET", "", nil},
			{"PATCH", "", apptest.Object{"url": 5}},
			{"DELETE", "", nil},
			{"POST", "/rotate-secret", nil},
			{"POST", "/test", nil},
			{"GET", "/deliveries", nil},
			{"POST", "/deliveries/" + apptest.NoSuchID + "/resend", nil},
			{"POST", "/replay", apptest.Object{}},
		} {
			s.Call(call.method, gone+call.path, owner.token, call.body).As(call.method+call.path).WantRefused(404, "")
		}
	}
}

func auditedEndpoints(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	trail := s.AuditLog(map[string][]string{"filter[tenant]": {ada.Tenant}}).Actions()
	for _, action := range []string{"created", "updated", "secret_rotated", "deleted"} {
		if !strings.Contains(fmt.Sprint(trail), "webhook_endpoint."+action) {
			t.Errorf("the audit log lacks %s: %v", action, trail)
		}
	}
	if text := s.AuditLog(nil).Text; strings.Contains(text, "whsec_") {
		t.Errorf("the audit log contains a secret: %s", text)
	} else if strings.Contains(text, "example.com/hooks") || !strings.Contains(text, "https://example.com/#sha256-") {
		t.Errorf("the audit log contains the path of a URL, or lacks its host: %s", text)
	}
}

// refuseTerms checks that invalid settings are rejected.
func refuseTerms(s *apptest.Server, base, token, one string) {
	s.T.Helper()
	fine := apptest.Object{"url": "https://example.com/", "events": []string{"*"}}
	for what, tt := range map[string]struct {
		change apptest.Object
		field  string
	}{
		"no url":          {apptest.Object{"url": apptest.Absent}, "url"},
		"no scheme":       {apptest.Object{"url": "example.com"}, "url"},
		"ftp":             {apptest.Object{"url": "ftp://example.com/"}, "url"},
		"user":            {apptest.Object{"url": "https://a:b@example.com/"}, "url"},
		"long":            {apptest.Object{"url": "https://example.com/" + strings.Repeat("x", 2048)}, "url"},
		"private":         {apptest.Object{"url": "https://10.0.0.1/"}, "url"},
		"private, http":   {apptest.Object{"url": "http://192.168.1.1/"}, "url"},
		"metadata":        {apptest.Object{"url": "http://169.254.169.254/latest"}, "url"},
		"unspecified":     {apptest.Object{"url": "http://0.0.0.0:80/"}, "url"},
		"private IPv6":    {apptest.Object{"url": "http://[fd00::1]/"}, "url"},
		"mapped":          {apptest.Object{"url": "http://[::ffff:10.0.0.1]/"}, "url"},
		"zone":            {apptest.Object{"url": "http://[fe80::1%25eth0]/"}, "url"},
		"number":          {apptest.Object{"url": "http://167772161/"}, "url"},
		"hexadecimal":     {apptest.Object{"url": "http://0x0a000001/"}, "url"},
		"short number":    {apptest.Object{"url": "http://10.1/"}, "url"},
		"no events":       {apptest.Object{"events": apptest.Absent}, "events"},
		"empty events":    {apptest.Object{"events": []string{}}, "events"},
		"unknown event":   {apptest.Object{"events": []string{"invoice.paid", "invoice.lost"}}, "events.1"},
		"events as text":  {apptest.Object{"events": "*"}, "events"},
		"description":     {apptest.Object{"description": strings.Repeat("é", 256)}, "description"},
		"no text at all":  {apptest.Object{"description": 5}, "description"},
		"control of text": {apptest.Object{"description": "a\x00b"}, "description"},
	} {
		s.Call("POST", base, token, apptest.WithChanges(fine, tt.change)).As(what).WantInvalid(tt.field)
		if len(tt.change) == 1 && !strings.HasPrefix(what, "no ") {
			s.Call("PATCH", one, token, tt.change).As("changed: " + what).WantInvalid(tt.field)
		}
	}
	for _, field := range []string{"url", "events", "enabled"} {
		s.Call("PATCH", one, token, apptest.Object{field: nil}).As(field + " null").WantInvalid(field)
	}
	s.Call("PATCH", one, token, apptest.Object{"enabled": "yes"}).WantInvalid("enabled")
}

// Of concurrent requests for the last free place, exactly one succeeds.
func TestEndpointsAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for _, tt := range []struct {
			base, token string
			most        int
		}{{ada.Path("/webhook-endpoints"), ada.Token, 10}, {platform, s.Admin(), 20}} {
			var made, refused int
			var mu sync.Mutex
			var all sync.WaitGroup
			for range tt.most + 5 {
				all.Go(func() {
					a := s.Call("POST", tt.base, tt.token, apptest.Object{"url": "https://example.com/", "events": []string{"*"}})
					mu.Lock()
					defer mu.Unlock()
					switch a.Status {
					case http.StatusCreated:
						made++
					case http.StatusUnprocessableEntity:
						refused++
						a.WantInvalid("url")
					default:
						t.Errorf("%d %s", a.Status, a.Text)
					}
				})
			}
			all.Wait()
			if made != tt.most || refused != 5 {
				t.Errorf("%d endpoints were created, %d requests were rejected", made, refused)
			}
		}
	})
}

func TestSigningAndRotating(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		r := newReceiver(t, nil)
		path, first := endpoint(s, ada, r.url+"/in", "tenant.updated")
		test := s.Call("POST", path+"/test", ada.Token, nil).Want(202)
		m := r.await(1)[0]
		at, err := strconv.ParseInt(m.timestamp, 10, 64)
		if err != nil || clock.System().Now().Sub(time.Unix(at, 0)).Abs() > long || m.path != "/in" || m.id != test.Str("data.event_id") || !m.signed(first, at) ||
			len(strings.Fields(m.signature)) != 1 || m.kind() != "webhook.test" || m.event["tenant_id"] != ada.Tenant || m.data("url") != r.url+"/in" || len(m.event) != 4 {
			t.Errorf("%+v %v", m, err)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000000Z", m.event["timestamp"].(string)); err != nil {
			t.Error(err)
		}
		list := awaitStatus(s, ada.Token, path, "delivered", 1)
		list.WantAt("data.0.attempts.0.status_code", float64(200)).WantAt("data.0.attempts.0.error", nil).WantAt("data.0.next_attempt_at", nil).
			WantAt("data.0.type", "webhook.test").WantAt("data.0.event_id", m.id).WantAt("meta.total", float64(1))
		if s.Call("GET", path, ada.Token, nil).Want(200).At("data.last_delivery_at") == nil {
			t.Error("no last delivery")
		}
		second := s.Call("POST", path+"/rotate-secret", ada.Token, nil).Want(200).Str("data.secret")
		send := func(n int) message {
			s.Call("POST", path+"/test", ada.Token, nil).Want(202)
			return r.await(n)[n-1]
		}
		both := send(2)
		at, _ = strconv.ParseInt(both.timestamp, 10, 64)
		if !both.signed(first, at) || !both.signed(second, at) || len(strings.Fields(both.signature)) != 2 {
			t.Errorf("after the rotation: %s", both.signature)
		}
		s.Advance(24*time.Hour + time.Second)
		ada.Token = s.LogIn("ada@example.com")
		one := send(3)
		at, _ = strconv.ParseInt(one.timestamp, 10, 64)
		if one.signed(first, at) || !one.signed(second, at) {
			t.Errorf("a day later: %s", one.signature)
		}
		// Events of the platform's own endpoints have no tenant.
		made := s.Call("POST", platform, s.Admin(), apptest.Object{"url": r.url + "/platform", "events": []string{"member.joined"}}).Want(201)
		s.Call("POST", platform+"/"+made.Str("data.id")+"/test", s.Admin(), nil).Want(202)
		if last := r.await(4)[3]; last.path != "/platform" || last.event["tenant_id"] != nil {
			t.Errorf("%+v", last)
		}
	})
}
