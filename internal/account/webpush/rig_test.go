package webpush_test

import (
	"net/netip"
	"testing"

	"github.com/tenantry/tenantry/internal/account/webpush"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/accounttest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// rig serves push subscriptions over HTTP.
type rig struct {
	*accounttest.Rig
	pushes *webpush.Service
}

func each(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f(t, newRig(t, db, safehttp.New(safehttp.Config{Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})))
	})
}

// newRig returns a rig that sends messages with client.
func newRig(t *testing.T, db *sqldb.DB, client *safehttp.Client) *rig {
	t.Helper()
	r := &rig{Rig: accounttest.New(t, db)}
	r.pushes = webpush.NewService(webpush.Deps{
		DB: db, Clock: r.Clock, Jobs: r.Jobs, Log: r.Log,
		Sender: push.NewSender(push.Config{Client: client, Contact: "ops@example.com"}),
	})
	r.Jobs.Lane(safehttp.Lane).Handle(webpush.JobSend, r.pushes.HandleSend)
	h := webpush.NewHTTP(r.pushes)
	r.Serve(
		nil,
		rest.Route{Method: "GET", Path: pushPath, Scope: rest.User, Rate: limit.Push, Handler: rest.Handle(h.List)},
		rest.Route{Method: "POST", Path: pushPath, Scope: rest.User, Rate: limit.Push, Handler: rest.Handle(h.Subscribe, rest.Status(201))},
		rest.Route{Method: "DELETE", Path: pushPath, Scope: rest.User, Rate: limit.Push, Handler: rest.Handle(h.Unsubscribe)},
	)
	return r
}
