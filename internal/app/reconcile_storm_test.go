package app

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Of months of customers' notifications a tenth is lost and the rest comes three
// times and in no order, while the service is killed and started again. After one
// reconciliation everything is as it is at the provider, each thing once.
func TestReconcileAfterAStorm(t *testing.T) {
	t.Parallel()
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
	// Until the reconciliation the service learns of nothing but by notifications,
	// and at first not even by those.
	g := &gate{}
	here := hosting{Data: t.TempDir(), Database: dbtest.URL(t, dialect), Addr: freeAddress(t)}
	s := startWith(t, here.settings(g))
	draw := rand.New(rand.NewPCG(1, 2))
	ids := make([]string, dbtest.Rounds(3, 56))
	for i := range ids {
		o := s.register(fmt.Sprintf("ada%d@example.com", i), true)
		s.subscribe(o, "starter")
		ids[i] = s.held(o, "subscription")[0].str("id")
	}
	s.settled()
	s.chaos(noWebhooks)
	g.closed.Store(allClosed)
	for month := range dbtest.Rounds(3, 18) {
		for _, id := range ids {
			switch draw.IntN(6) {
			case 0:
				s.byHand("POST", "/subscriptions/"+id, "metadata[seen]", strconv.Itoa(month))
			case 1:
				item := s.byHand("GET", "/subscriptions/"+id).str("items.data.0.id")
				s.byHand("POST", "/subscriptions/"+id, "items[0][id]", item, "items[0][quantity]", strconv.Itoa(1+draw.IntN(9)))
			}
		}
		s.pass(31 * day)
	}
	s.pass(2 * time.Hour) // the last invoices are final
	stage("the months are over")
	sent := s.call("POST", "/sandbox/stripe/replay", "", map[string]any{"times": 3, "shuffle": true, "share": 0.9, "seed": 7}).want(200)
	events, deliveries := int(sent.at("data.events").(float64)), int(sent.at("data.deliveries").(float64))
	if want := dbtest.Rounds(100, 10_000); events < want || deliveries != 3*events {
		t.Errorf("%d notifications, sent %d times, want %d", events, deliveries, want)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}

	// Each time a part of the rest has come, at some moment, the process is gone.
	for range dbtest.Rounds(1, 6) {
		child := here.start(t)
		pending := child.pending()
		enough := pending - 1 - draw.IntN(pending/2)
		eventually(t, "a part of the notifications", func() bool { return child.pending() <= enough })
		child.kill()
	}
	g.closed.Store(listsClosed)
	s = startWith(t, here.settings(g))
	if s.pending() == 0 {
		t.Error("all notifications had come before the last start")
	}
	s.delivered()
	s.settled()
	stage("the notifications are in")

	g.closed.Store(allOpen)
	s.byHand("DELETE", "/subscriptions/"+ids[0]) // which nobody tells
	found := s.reconcile(false)
	if len(found[ids[0]]) == 0 {
		t.Errorf("the end of %s was not found: %v", ids[0], found)
	}
	t.Logf("%d events sent %d times, %d objects differed", events, deliveries, len(found))
	s.mirrors()
	s.mirrorsInvoices()
	if again := s.reconcile(true); len(again) != 0 {
		t.Errorf("differences are left: %v", again)
	}
	stage("all is compared")
}

// pending counts the provider's notifications that have not arrived.
func (s *server) pending() int {
	s.t.Helper()
	return int(s.call("GET", "/sandbox/stripe/replay", "", nil).want(200).at("data.pending").(float64))
}

// delivered waits until the provider's notifications have arrived, as long as there
// are fewer and fewer to come.
func (s *server) delivered() {
	s.t.Helper()
	for left := s.pending(); left > 0; {
		eventually(s.t, "the arrival of notifications", func() bool {
			now := s.pending()
			fewer := now < left
			left = min(left, now)
			return fewer
		})
	}
}

// mirrors checks that all subscriptions here are those of the provider.
func (s *server) mirrors() {
	s.t.Helper()
	there := map[string]string{}
	for _, sub := range objects(s.t, s.sandbox(), "subscription") {
		there[sub.str("id")] = fmt.Sprint(sub.at("status"), sub.at("items.data.0.quantity"), sub.at("cancel_at_period_end"),
			fmt.Sprintf(" %.0f", sub.at("items.data.0.current_period_end")))
	}
	rows, err := dbtest.Open(s.t, s.database).Conn(s.t.Context()).QueryContext(s.t.Context(),
		`SELECT psp_subscription_id, status, quantity, cancel_at_period_end, current_period_end FROM subscriptions`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, status string
		var quantity int64
		var ends bool
		var until time.Time
		if err := rows.Scan(&id, &status, &quantity, &ends, &until); err != nil {
			s.t.Fatal(err)
		}
		if here := fmt.Sprint(status, quantity, ends, fmt.Sprintf(" %d", until.Unix())); here != there[id] {
			s.t.Errorf("%s is %s here, %s there", id, here, there[id])
		}
		delete(there, id)
	}
	if err := rows.Err(); err != nil || len(there) != 0 {
		s.t.Errorf("not here: %v, %v", there, err)
	}
}

// mirrorsInvoices checks that every invoice of the provider that is no draft was
// issued here once, as what it is there, with numbers that have no gap.
func (s *server) mirrorsInvoices() {
	s.t.Helper()
	there := map[string]string{}
	for _, in := range objects(s.t, s.sandbox(), "invoice") {
		if in.at("status") != "draft" {
			there[in.str("id")] = fmt.Sprintf("%v %.0f %s", in.at("status"), in.at("total"), in.str("currency"))
		}
	}
	rows, err := dbtest.Open(s.t, s.database).Conn(s.t.Context()).QueryContext(s.t.Context(),
		`SELECT psp_invoice_id, status, total_cents, lower(currency), year, sequence FROM invoices ORDER BY year, sequence`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	last, n := map[int]int64{}, 0
	for rows.Next() {
		var id, status, currency string
		var total, sequence int64
		var year int
		if err := rows.Scan(&id, &status, &total, &currency, &year, &sequence); err != nil {
			s.t.Fatal(err)
		}
		n++
		if here := fmt.Sprintf("%s %d %s", status, total, currency); here != there[id] {
			s.t.Errorf("%s is %s here, %s there", id, here, there[id])
		}
		delete(there, id)
		if sequence != last[year]+1 {
			s.t.Errorf("after number %d of %d comes %d", last[year], year, sequence)
		}
		last[year] = sequence
	}
	if err := rows.Err(); err != nil || len(there) != 0 {
		s.t.Errorf("not here: %v, %v", there, err)
	}
	s.t.Logf("%d invoices", n)
}
