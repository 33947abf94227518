package app

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Of months of a customers's notifications a tenth is lost and the rest comes three
// times and in no order, while the service is stopped and started again. After one
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
	settings := Settings{
		Addr: "127.0.0.1:0", Data: t.TempDir(), DatabaseURL: Secret(dbtest.URL(t, dialect)), StripeSecretKey: dashboardKey,
		RateLimits: map[string]int{}, InvoiceMode: PSPManaged, LogFormat: LogJSON, LogLevel: slog.LevelWarn,
		HashCost: account.HashCost{MemoryKiB: 64, Passes: 1},
	}
	s := startWith(t, settings)
	restart := func() {
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		s = startWith(t, settings)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	tenants, months := dbtest.Rounds(3, 8), dbtest.Rounds(3, 12)
	ids := make([]string, tenants)
	for i := range ids {
		o := s.register(fmt.Sprintf("ada%d@example.com", i), true)
		s.subscribe(o, "starter")
		ids[i] = s.held(o, "subscription")[0].str("id")
	}
	s.settled()
	s.chaos(noWebhooks)
	for month := range months {
		for _, id := range ids {
			switch draw.IntN(6) {
			case 0:
				s.byHand("POST", "/subscriptions/"+id, "metadata[seen]", strconv.Itoa(month))
			case 1:
				item := s.byHand("GET", "/subscriptions/"+id).str("items.data.0.id")
				s.byHand("POST", "/subscriptions/"+id, "items[0][id]", item, "items[0][quantity]", strconv.Itoa(1+draw.IntN(9)))
			}
		}
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "744h"}).want(200)
		if month%8 == 3 {
			restart()
		}
	}
	// No clock moves after the last changes: else the service would soon read the
	// provider's list of events by itself.
	for i, id := range ids {
		sub := s.byHand("GET", "/subscriptions/"+id)
		if sub.at("status") != "canceled" {
			s.byHand("POST", "/subscriptions/"+id, "items[0][id]", sub.str("items.data.0.id"), "items[0][quantity]", strconv.Itoa(10+i))
		}
	}
	sent := s.call("POST", "/sandbox/stripe/replay", "", map[string]any{"times": 3, "shuffle": true, "share": 0.9, "seed": 7}).want(200)
	if want := float64(dbtest.Rounds(80, 1_500)); sent.at("data.deliveries").(float64) < want {
		t.Errorf("only %v notifications, want %v", sent.at("data.deliveries"), want)
	}
	for range dbtest.Rounds(1, 2) {
		restart()
	}
	s.delivered()
	s.settled()
	s.byHand("DELETE", "/subscriptions/"+ids[0]) // which nobody tells
	found := s.reconcile(false)
	if len(found[ids[0]]) == 0 {
		t.Errorf("the end of %s was not found: %v", ids[0], found)
	}
	t.Logf("%v events sent %v times, %d subscriptions differed", sent.at("data.events"), sent.at("data.deliveries"), len(found))
	s.mirrors()
	if again := s.reconcile(true); len(again) != 0 {
		t.Errorf("differences are left: %v", again)
	}
}

// delivered waits until the provider's notifications have arrived, as long as there
// are fewer and fewer to come.
func (s *server) delivered() {
	s.t.Helper()
	pending := func() float64 {
		return s.call("GET", "/sandbox/stripe/replay", "", nil).want(200).at("data.pending").(float64)
	}
	for left := pending(); left > 0; {
		eventually(s.t, "the arrival of notifications", func() bool {
			now := pending()
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
