package blackbox_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func seatsOf(s *apptest.Server, o apptest.Owner) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", o.Path("/subscription/seats"), o.Token, nil).Want(200)
}

func wantAll(a apptest.Reply, want map[string]any) {
	a.T.Helper()
	for at, want := range want {
		if got := a.At(at); got != want {
			a.T.Errorf("%s is %v, want %v", at, got, want)
		}
	}
}

// A seat plan bills the size of the team, and the provider's quantity follows.
func TestSeatsFollowTheTeam(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.Call("GET", o.Path("/subscription/seats"), o.Token, nil).Want(404)
		page := s.Call("POST", o.Path("/checkout"), o.Token, map[string]any{
			"plan_id": s.PlanID(o, "team"), "currency": "EUR", "quantity": 3,
			"success_url": "https://a.example/", "cancel_url": "https://a.example/",
		}).Want(200).Str("data.url")
		s.Pay(page, apptest.CardPays).Want(303)
		apptest.Eventually(t, "the activation", func() bool { return s.Subscription(o).At("data.status") == "trialing" })
		wantAll(seatsOf(s, o), map[string]any{
			"data.current_seats": 1.0, "data.seat_limit": 100.0, "data.price_per_seat.amount_cents": 1200.0,
			"data.price_per_seat.currency": "EUR", "data.total_seat_cost.amount_cents": 3600.0, "data.total_seat_cost.currency": "EUR",
			"data.subscription_quantity": 3.0, "data.available_seats": 99.0, "data.is_seat_based": true, "data.is_synced": true,
		})
		s.Chaos(apptest.ChaosProviderDown)
		_, grace := s.Join(o, "Grace", "grace@example.com", "member")
		s.Join(o, "Edith", "edith@example.com", "member")
		s.Join(o, "Jean", "jean@example.com", "member")
		wantAll(seatsOf(s, o), map[string]any{
			"data.current_seats": 4.0, "data.subscription_quantity": 3.0, "data.available_seats": 96.0, "data.is_synced": false,
		})
		s.Chaos(nil)
		caughtUp := func(members float64) {
			t.Helper()
			apptest.Eventually(t, "the provider follows", func() bool {
				remote := s.ProviderObjects(o, "subscription")[0]
				return remote.At("items.data.0.quantity") == members && seatsOf(s, o).At("data.is_synced") == true
			})
			wantAll(seatsOf(s, o), map[string]any{
				"data.current_seats": members, "data.subscription_quantity": members, "data.total_seat_cost.amount_cents": members * 1200,
			})
		}
		caughtUp(4)
		s.Call("DELETE", o.Path("/team/members/")+strconv.FormatInt(grace, 10), o.Token, nil).Want(200)
		caughtUp(3)
		if n := s.CountAudited(o, "subscription.quantity_changed"); n < 2 {
			t.Errorf("%d changes of the quantity in the audit log", n)
		}
	})
}

// Members who joined while the checkout was open are billed once it is paid.
func TestSeatsOfMembersBeforeThePayment(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		page := s.Checkout(o, "team")
		s.Join(o, "Grace", "grace@example.com", "member")
		s.Pay(page, apptest.CardPays).Want(303)
		apptest.Eventually(t, "the second seat", func() bool { return s.Subscription(o).At("data.quantity") == 2.0 })
	})
}

// A plan without seats does not bill them.
func TestSeatsOfAFlatPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.Join(o, "Grace", "grace@example.com", "member")
		wantAll(seatsOf(s, o), map[string]any{
			"data.current_seats": 2.0, "data.seat_limit": 5.0, "data.available_seats": 3.0, "data.subscription_quantity": 1.0,
			"data.price_per_seat.amount_cents": 0.0, "data.total_seat_cost.amount_cents": 0.0,
			"data.is_seat_based": false, "data.is_synced": true,
		})
		scaled := s.Register("scaled@example.com", true)
		s.BuyPlan(scaled, "scale")
		wantAll(seatsOf(s, scaled), map[string]any{"data.seat_limit": nil, "data.available_seats": nil, "data.is_seat_based": false})
	})
}

// A member who joins during a change to a seat plan is billed, and a change to a plan without seats
// leaves no seats behind.
func TestSeatsWhileThePlanChanges(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for round := range dbtest.Rounds(2, 10) {
			o := s.Register(fmt.Sprintf("ada%d@example.com", round), true)
			s.BuyPlan(o, "starter")
			for _, change := range []struct {
				slug, email string
				quantity    float64
			}{{"team", "grace%d@example.com", 2}, {"starter", "edith%d@example.com", 1}} {
				email := fmt.Sprintf(change.email, round)
				token := s.RegisterAlone("Member", email)
				_, invitation := s.Invite(o, email, "member")
				plan := s.PlanID(o, change.slug)
				var wg sync.WaitGroup
				wg.Go(func() { s.Call("POST", "/api/v1/invitations/"+invitation+"/accept", token, nil).Want(200) })
				wg.Go(func() {
					s.Call("POST", o.Path("/subscription/change-plan"), o.Token, map[string]any{"new_plan_id": plan}).Want(200)
				})
				wg.Wait()
				apptest.Eventually(t, "the quantity", func() bool {
					remote := s.ProviderObjects(o, "subscription")[0]
					return remote.At("items.data.0.quantity") == change.quantity && s.Subscription(o).At("data.quantity") == change.quantity
				})
			}
		}
	})
}
