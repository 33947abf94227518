package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Of the notifications of several months, a tenth is lost and the others arrive three times and out
// of order, while the service is killed and restarted. After one reconciliation everything matches
// the provider, without duplicates.
func TestReconcileAfterManyLostEvents(t *testing.T) {
	t.Parallel()
	apptest.OneInstance(t, "the test kills and starts the only process")
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			storm(t, dialect)
		})
	}
}

func storm(t *testing.T, dialect sqldb.Dialect) {
	began := clock.System().Now()
	stage := func(what string) {
		t.Logf("%5.1f s: %s", clock.System().Now().Sub(began).Seconds(), what)
	}
	// Until the reconciliation, the service only learns about changes by notifications, and at
	// first not even by these.
	g := &apptest.Gate{}
	here := apptest.ServiceHost{Data: dbtest.TempDir(t), Database: dbtest.URL(t, dialect), Addr: apptest.FreeAddress(t)}
	s := apptest.StartWith(t, here.Settings(g))
	draw := rand.New(rand.NewPCG(1, 2))
	ids := make([]string, dbtest.Rounds(3, 56))
	for i := range ids {
		o := s.Register(fmt.Sprintf("ada%d@example.com", i), true)
		s.BuyPlan(o, "starter")
		ids[i] = s.ProviderObjects(o, "subscription")[0].Str("id")
	}
	s.AwaitNotifications()
	s.Chaos(apptest.ChaosNoWebhooks)
	g.Set(apptest.AllClosed)
	for month := range dbtest.Rounds(3, 18) {
		for _, id := range ids {
			switch draw.IntN(6) {
			case 0:
				s.AtProvider("POST", "/subscriptions/"+id, "metadata[seen]", strconv.Itoa(month))
			case 1:
				item := s.AtProvider("GET", "/subscriptions/"+id).Str("items.data.0.id")
				s.AtProvider("POST", "/subscriptions/"+id, "items[0][id]", item, "items[0][quantity]", strconv.Itoa(1+draw.IntN(9)))
			}
		}
		s.Advance(31 * apptest.Day)
	}
	s.Advance(2 * time.Hour) // the last invoices are finalized
	stage("the months are over")
	sent := s.Call("POST", "/sandbox/stripe/replay", "", map[string]any{"times": 3, "shuffle": true, "share": 0.9, "seed": 7}).Want(200)
	events, deliveries := int(sent.At("data.events").(float64)), int(sent.At("data.deliveries").(float64))
	if want := dbtest.Rounds(100, 10_000); events < want || deliveries != 3*events {
		t.Errorf("%d notifications, sent %d times, want %d", events, deliveries, want)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	// The process is killed at arbitrary moments, each time after a part of the remaining notifications
	// has arrived.
	for range dbtest.Rounds(1, 6) {
		child := here.Start(t)
		pending := pendingNotifications(child.Server)
		enough := pending - 1 - draw.IntN(pending/2)
		apptest.Eventually(t, "a part of the notifications", func() bool { return pendingNotifications(child.Server) <= enough })
		if pendingNotifications(child.Server) == 0 {
			t.Error("all notifications had come before the process was gone")
		}
		child.Kill()
	}
	g.Set(apptest.ListsClosed)
	s = apptest.StartWith(t, here.Settings(g))
	awaitDelivery(s)
	s.AwaitNotifications()
	stage("the notifications are in")

	g.Set(apptest.AllOpen)
	s.AtProvider("DELETE", "/subscriptions/"+ids[0]) // without a notification
	found := s.Reconcile(false)
	if len(found[ids[0]]) == 0 {
		t.Errorf("the end of %s was not found: %v", ids[0], found)
	}
	t.Logf("%d events sent %d times, %d objects differed", events, deliveries, len(found))
	mirrors(s)
	mirrorsInvoices(s)
	if again := s.Reconcile(true); len(again) != 0 {
		t.Errorf("differences are left: %v", again)
	}
	stage("all is compared")
}

// pendingNotifications counts the provider's undelivered notifications.
func pendingNotifications(s *apptest.Server) int {
	s.T.Helper()
	return int(s.Call("GET", "/sandbox/stripe/replay", "", nil).Want(200).At("data.pending").(float64))
}

// awaitDelivery waits until the provider's notifications have arrived, as long as their number
// keeps falling.
func awaitDelivery(s *apptest.Server) {
	s.T.Helper()
	for left := pendingNotifications(s); left > 0; {
		apptest.Eventually(s.T, "the arrival of notifications", func() bool {
			now := pendingNotifications(s)
			fewer := now < left
			left = min(left, now)
			return fewer
		})
	}
}

// mirrors checks that all subscriptions match the provider's.
func mirrors(s *apptest.Server) {
	s.T.Helper()
	there := map[string]string{}
	for _, sub := range s.AllProviderObjects("subscription") {
		there[sub.Str("id")] = fmt.Sprint(sub.At("status"), sub.At("items.data.0.quantity"), sub.At("cancel_at_period_end"),
			fmt.Sprintf(" %.0f", sub.At("items.data.0.current_period_end")))
	}
	rows, err := s.DB().Conn(s.T.Context()).QueryContext(s.T.Context(),
		`SELECT psp_subscription_id, status, quantity, cancel_at_period_end, current_period_end FROM subscriptions`)
	if err != nil {
		s.T.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, status string
		var quantity int64
		var ends bool
		var until time.Time
		if err := rows.Scan(&id, &status, &quantity, &ends, &until); err != nil {
			s.T.Fatal(err)
		}
		if here := fmt.Sprint(status, quantity, ends, fmt.Sprintf(" %d", until.Unix())); here != there[id] {
			s.T.Errorf("%s is %s here, %s there", id, here, there[id])
		}
		delete(there, id)
	}
	if err := rows.Err(); err != nil || len(there) != 0 {
		s.T.Errorf("not here: %v, %v", there, err)
	}
}

// mirrorsInvoices checks that every finalized invoice of the provider was issued here exactly once
// with the same content, and that the invoice numbers have no gaps.
func mirrorsInvoices(s *apptest.Server) {
	s.T.Helper()
	there := map[string]string{}
	for _, in := range s.AllProviderObjects("invoice") {
		if in.At("status") != "draft" {
			there[in.Str("id")] = fmt.Sprintf("%v %.0f %s", in.At("status"), in.At("total"), in.Str("currency"))
		}
	}
	rows, err := s.DB().Conn(s.T.Context()).QueryContext(s.T.Context(),
		`SELECT psp_invoice_id, status, total_cents, lower(currency), year, sequence FROM invoices ORDER BY year, sequence`)
	if err != nil {
		s.T.Fatal(err)
	}
	defer rows.Close()
	last, n := map[int]int64{}, 0
	for rows.Next() {
		var id, status, currency string
		var total, sequence int64
		var year int
		if err := rows.Scan(&id, &status, &total, &currency, &year, &sequence); err != nil {
			s.T.Fatal(err)
		}
		n++
		if here := fmt.Sprintf("%s %d %s", status, total, currency); here != there[id] {
			s.T.Errorf("%s is %s here, %s there", id, here, there[id])
		}
		delete(there, id)
		if sequence != last[year]+1 {
			s.T.Errorf("after number %d of %d: %d", last[year], year, sequence)
		}
		last[year] = sequence
	}
	if err := rows.Err(); err != nil || len(there) != 0 {
		s.T.Errorf("not here: %v, %v", there, err)
	}
	s.T.Logf("%d invoices", n)
}
