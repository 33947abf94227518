package rest_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

type aheadKey struct{}

// What a route reads is asked for before its caller is looked up, of the tenant in the path, and
// the handler finds it. It is not asked for where nobody is looked up, and whoever may not see
// it gets nothing of it.
func TestAhead(t *testing.T) {
	t.Parallel()
	var asked, authenticated atomic.Int64
	route := rest.Route{
		Method: http.MethodGet, Path: "/api/v1/tenants/{tenantId}/ahead", Scope: rest.Tenant,
		Handler: rest.Handle(func(ctx context.Context, _ *struct{}) (*rest.Data[uuid.UUID], error) {
			id, _ := ctx.Value(aheadKey{}).(uuid.UUID)
			return rest.OK(id), nil
		}, rest.Ahead(func(ctx context.Context, tenantID uuid.UUID) context.Context {
			asked.Add(1)
			return context.WithValue(ctx, aheadKey{}, tenantID)
		})),
	}
	s := start(t, []rest.Route{route}, func(c *rest.Config) {
		c.Authenticate = func(ctx context.Context, token string) (*authz.Caller, error) {
			authenticated.Add(1)
			if _, ok := ctx.Value(aheadKey{}).(uuid.UUID); !ok {
				authenticated.Add(100)
			}
			return authenticate(ctx, token)
		}
	})
	own, other := "/api/v1/tenants/"+ownTenant.String()+"/ahead", "/api/v1/tenants/"+otherTenant.String()+"/ahead"
	for _, test := range []struct {
		path, authorization  string
		want                 int
		asked, authenticated int64
	}{
		{own, "Bearer owner", 200, 1, 1},
		{other, "Bearer owner", 403, 1, 1},
		{own, "Bearer stolen", 401, 1, 1},
		{own, "Bearer two words", 401, 0, 0},
		{own, "", 401, 0, 0},
		{"/api/v1/tenants/1/ahead", "Bearer owner", 403, 0, 101},
	} {
		asked.Store(0)
		authenticated.Store(0)
		got := s.get(test.path, "Authorization: "+test.authorization)
		if got.Status != test.want || asked.Load() != test.asked || authenticated.Load() != test.authenticated {
			t.Errorf("%s %q: %d, asked %d times, authenticated %d", test.path, test.authorization, got.Status, asked.Load(), authenticated.Load())
		}
		if test.want == 200 && got.Body != `{"data":"`+ownTenant.String()+`"}` {
			t.Errorf("got %s", got.Body)
		}
	}
}
