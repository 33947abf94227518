package apptest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Reconcile runs the comparison with the provider and returns the differences by the provider's id.
// A difference consists of its kind, its field if it has one, and "repaired" if it was repaired.
func (s *Server) Reconcile(dryRun bool) map[string][]string {
	s.T.Helper()
	a := s.Call("POST", "/sandbox/stripe/reconcile", "", map[string]any{"dry_run": dryRun}).Want(200)
	found := map[string][]string{}
	for _, d := range a.At("data").([]any) {
		d := d.(map[string]any)
		text := fmt.Sprint(d["kind"])
		if d["field"] != nil {
			text += " " + fmt.Sprint(d["field"])
		}
		if d["repaired"] == true {
			text += " repaired"
		}
		id := d["psp_id"].(string)
		found[id] = append(found[id], text)
	}
	return found
}

// StoredBilling returns all stored subscriptions and invoices, one line per row, so that tests can
// detect changes. Wait for the jobs first ([Server.AwaitJobs]).
func (s *Server) StoredBilling() string {
	s.T.Helper()
	var lines strings.Builder
	for _, table := range []string{"subscriptions", "psp_invoices", "invoices", "invoice_lines", "invoice_numbers"} {
		s.dump(&lines, table)
	}
	return lines.String()
}

func (s *Server) dump(into io.Writer, table string) {
	s.T.Helper()
	rows, err := s.DB().Conn(s.T.Context()).QueryContext(s.T.Context(), `SELECT * FROM `+table+` ORDER BY 1, 2`)
	if err != nil {
		s.T.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		s.T.Fatal(err)
	}
	for rows.Next() {
		values, pointers := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			s.T.Fatal(err)
		}
		fmt.Fprintln(into, append([]any{table}, values...)...)
	}
	if err := rows.Err(); err != nil {
		s.T.Fatal(err)
	}
}

// Customers are tenants by name, for tests with several tenants.
type Customers struct {
	*Server
	Names map[string]Owner
}

// Customers returns an empty set of customers.
func (s *Server) Customers() Customers { return Customers{Server: s, Names: map[string]Owner{}} }

// Add registers a tenant that is a customer at the provider but has not subscribed. It returns the
// provider's id of the customer.
func (k Customers) Add(name string) (id string) {
	o := k.Register(name+"@example.com", true)
	k.Names[name] = o
	k.Checkout(o, "starter")
	return k.ProviderObjects(o, "customer")[0].Str("id")
}

// AddSubscriber registers a tenant with a subscription and returns the provider's subscription.
func (k Customers) AddSubscriber(name, slug string) Reply {
	o := k.Register(name+"@example.com", true)
	k.Names[name] = o
	k.BuyPlan(o, slug)
	return k.ProviderObjects(o, "subscription")[0]
}

// SubscribeAtProvider starts a trial at the provider and returns the id of the subscription.
func (k Customers) SubscribeAtProvider(customer, price string, more ...string) string {
	return k.AtProvider("POST", "/subscriptions", append([]string{
		"customer", customer, "items[0][price]", price, "items[0][quantity]", "1", "trial_period_days", "7",
	}, more...)...).Str("id")
}

// AddPastDue registers tenants whose renewal has failed. Each has a paid and an open invoice. It
// returns the provider's ids of the open invoices by name.
func (k Customers) AddPastDue(names ...string) (open map[string]string) {
	k.T.Helper()
	for _, name := range names {
		k.Names[name] = k.Register(name+"@example.com", true)
		k.BuyPlanWith(k.Names[name], "starter", CardFailsAtRenewal)
	}
	k.AwaitNotifications()
	k.Advance(32 * Day)
	open = map[string]string{}
	for _, name := range names {
		for _, in := range k.ProviderObjects(k.Names[name], "invoice") {
			if in.At("status") == "open" {
				open[name] = in.Str("id")
			}
		}
		if open[name] == "" {
			k.T.Fatalf("%s has no open invoice", name)
		}
		o := k.Names[name]
		o.Token = k.LogIn(name + "@example.com")
		k.Names[name] = o
		k.Invoices(o, 2)
	}
	return open
}

// SameDifferences compares the result of [Server.Reconcile] with the expected differences.
func SameDifferences(t *testing.T, what string, got, want map[string][]string) {
	t.Helper()
	for id := range want {
		if !slices.Equal(got[id], want[id]) {
			t.Errorf("%s: %s: %v, want %v", what, id, got[id], want[id])
		}
	}
	for id := range got {
		if want[id] == nil {
			t.Errorf("%s: %s: %v, want nothing", what, id, got[id])
		}
	}
}

// MarkRepaired returns differences as [Server.Reconcile] returns them after it has repaired them.
func MarkRepaired(differences []string) []string {
	all := make([]string, len(differences))
	for i, d := range differences {
		all[i] = d + " repaired"
	}
	return all
}
