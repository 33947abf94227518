package app

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func (s *server) seats(o owner) reply {
	s.t.Helper()
	return s.call("GET", o.sub()+"/seats", o.token, nil).want(200)
}

func (a reply) all(want map[string]any) {
	a.t.Helper()
	for at, want := range want {
		if got := a.at(at); got != want {
			a.t.Errorf("%s is %v, want %v", at, got, want)
		}
	}
}

// What a seat plan bills follows the team, at the provider too.
func TestSeatsFollowTheTeam(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.call("GET", o.sub()+"/seats", o.token, nil).want(404)
		page := s.call("POST", "/api/v1/tenant/"+o.tenant+"/checkout", o.token, map[string]any{
			"plan_id": s.plan(o, "team"), "currency": "EUR", "quantity": 3,
			"success_url": "https://a.example/", "cancel_url": "https://a.example/",
		}).want(200).str("data.url")
		s.pay(page, goodCard).want(303)
		eventually(t, "the activation", func() bool { return s.subscription(o).at("data.status") == "trialing" })
		s.seats(o).all(map[string]any{
			"data.current_seats": 1.0, "data.seat_limit": 100.0, "data.price_per_seat.amount_cents": 1200.0,
			"data.price_per_seat.currency": "EUR", "data.total_seat_cost.amount_cents": 3600.0, "data.total_seat_cost.currency": "EUR",
			"data.subscription_quantity": 3.0, "data.available_seats": 99.0, "data.is_seat_based": true, "data.is_synced": false,
		})
		s.chaos(pspDown)
		_, grace := s.join(o, "Grace", "grace@example.com", "member")
		s.join(o, "Edith", "edith@example.com", "member")
		s.join(o, "Jean", "jean@example.com", "member")
		s.seats(o).all(map[string]any{
			"data.current_seats": 4.0, "data.subscription_quantity": 3.0, "data.available_seats": 96.0, "data.is_synced": false,
		})
		s.chaos(nil)
		caughtUp := func(members float64) {
			t.Helper()
			eventually(t, "the provider follows", func() bool {
				remote := s.held(o, "subscription")[0]
				return remote.at("items.data.0.quantity") == members && s.seats(o).at("data.is_synced") == true
			})
			s.seats(o).all(map[string]any{
				"data.current_seats": members, "data.subscription_quantity": members, "data.total_seat_cost.amount_cents": members * 1200,
			})
		}
		caughtUp(4)
		s.call("DELETE", o.team()+"/members/"+strconv.FormatInt(grace, 10), o.token, nil).want(200)
		caughtUp(3)
		if n := s.recorded(o, "subscription.quantity_changed"); n < 2 {
			t.Errorf("%d changes of the quantity in the trail", n)
		}
	})
}

// Members who came while the checkout was open are billed once it is paid.
func TestSeatsOfMembersBeforeThePayment(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		page := s.checkout(o, "team")
		s.join(o, "Grace", "grace@example.com", "member")
		s.pay(page, goodCard).want(303)
		eventually(t, "the second seat", func() bool { return s.subscription(o).at("data.quantity") == 2.0 })
	})
}

// A plan without seats is not billed by them.
func TestSeatsOfAFlatPlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.join(o, "Grace", "grace@example.com", "member")
		s.seats(o).all(map[string]any{
			"data.current_seats": 2.0, "data.seat_limit": 5.0, "data.available_seats": 3.0, "data.subscription_quantity": 1.0,
			"data.price_per_seat.amount_cents": 0.0, "data.total_seat_cost.amount_cents": 0.0,
			"data.is_seat_based": false, "data.is_synced": true,
		})
		scaled := s.register("scaled@example.com", true)
		s.subscribe(scaled, "scale")
		s.seats(scaled).all(map[string]any{"data.seat_limit": nil, "data.available_seats": nil, "data.is_seat_based": false})
	})
}

// A member who joins while the plan is changed to one with seats is billed, and a
// change to one without leaves no seats behind.
func TestSeatsWhileThePlanChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		for round := range dbtest.Rounds(2, 10) {
			o := s.register(fmt.Sprintf("ada%d@example.com", round), true)
			s.subscribe(o, "starter")
			for _, change := range []struct {
				slug, email string
				quantity    float64
			}{{"team", "grace%d@example.com", 2}, {"starter", "edith%d@example.com", 1}} {
				email := fmt.Sprintf(change.email, round)
				token := s.alone("Member", email)
				_, invitation := s.invite(o, email, "member")
				plan := s.plan(o, change.slug)
				var wg sync.WaitGroup
				wg.Go(func() { s.call("POST", "/api/v1/invitations/"+invitation+"/accept", token, nil).want(200) })
				wg.Go(func() {
					s.call("POST", o.sub()+"/change-plan", o.token, map[string]any{"new_plan_id": plan}).want(200)
				})
				wg.Wait()
				eventually(t, "the quantity", func() bool {
					remote := s.held(o, "subscription")[0]
					return remote.at("items.data.0.quantity") == change.quantity && s.subscription(o).at("data.quantity") == change.quantity
				})
			}
		}
	})
}
