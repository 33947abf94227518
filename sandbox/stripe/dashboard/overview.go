package dashboard

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// overviewPart is the start page: the connection settings, the current numbers, the next timers and
// the latest events.
type overviewPart struct {
	API, Key, Secret, Hook string
	Curl, Go, Node         string
	Numbers                []number
	Coming                 []upcomingTimer
	Happened               []eventView
}

// number is a figure with a link to its list.
type number struct {
	Label, Text, Href string
	Bad               bool
}

// upcomingTimer is a scheduled action.
type upcomingTimer struct {
	theme.ScheduledAction
	When theme.Moment
}

func (d *Dashboard) overview(ctx context.Context, st *kernel.Step, _ *http.Request, f *frame) error {
	f.Title, f.Here = "Overview", "Overview"
	part := &overviewPart{API: d.cfg.API, Key: d.cfg.Key, Secret: d.cfg.Secret, Hook: d.cfg.Hook, Curl: d.curl("/v1/customers", "-d", "email=ada@example.test")}
	if d.cfg.AtRoot {
		part.Go = "config := &stripe.BackendConfig{URL: stripe.String(\"" + d.cfg.API + "\")}\nclient := stripe.NewClient(\"" + d.cfg.Key + "\",\n\tstripe.WithBackends(stripe.NewBackendsWithConfig(config)))"
		part.Node = "const stripe = new Stripe('" + d.cfg.Key + "', " + nodeHost(d.cfg.API) + ")"
	}
	f.Overview = part
	for _, n := range []struct {
		label, href, where string
		bad                bool
	}{
		{"Customers", "/customers", `kind = 'customer' AND doc ->> '$.deleted' IS NULL`, false},
		{"Active subscriptions", "/subscriptions", `kind = 'subscription' AND doc ->> '$.status' IN ('active', 'trialing', 'past_due', 'unpaid')`, false},
		{"Open invoices", "/invoices?status=open", `kind = 'invoice' AND doc ->> '$.status' = 'open'`, true},
		{"Undelivered events", "/events?delivery=waiting", `kind = 'event' AND doc ->> '$.pending_webhooks' > 0`, true},
	} {
		count, err := kernel.Count(ctx, st.Q, n.where)
		if err != nil {
			return err
		}
		part.Numbers = append(part.Numbers, number{Label: n.label, Text: strconv.Itoa(count), Href: Path + n.href, Bad: n.bad && count > 0})
	}
	found, _, err := kernel.Events.FindNewest(ctx, st.Q, 12, "", `true`)
	if err != nil {
		return err
	}
	if part.Happened, err = d.newEventViews(ctx, st, found); err != nil {
		return err
	}
	next, err := ListUpcoming(ctx, st, 6)
	for _, c := range next {
		part.Coming = append(part.Coming, upcomingTimer{c, momentAt(c.At.Unix(), st.Now)})
	}
	return err
}

// ListUpcoming returns the next scheduled actions, soonest first.
func ListUpcoming(ctx context.Context, st *kernel.Step, limit int) ([]theme.ScheduledAction, error) {
	next, err := kernel.NextTimers(ctx, st.Q, limit)
	if err != nil {
		return nil, err
	}
	var all []theme.ScheduledAction
	for _, t := range next {
		c := theme.ScheduledAction{Kind: t.Kind, What: timerText(t.Kind), About: shortID(t.Object), Href: hrefOf(t.Object), At: time.Unix(t.At, 0).UTC(), Renews: t.Kind == subscriptions.TimerPeriodEnds}
		if t.Customer != "" {
			who, err := personOf(ctx, st, t.Customer)
			if err != nil {
				return nil, err
			}
			c.About = who.Text
		}
		all = append(all, c)
	}
	return all, nil
}

// LastEvents returns the latest events, newest first.
func LastEvents(ctx context.Context, st *kernel.Step, limit int) ([]theme.Event, error) {
	found, _, err := kernel.Events.FindNewest(ctx, st.Q, limit, "", `true`)
	if err != nil {
		return nil, err
	}
	all := make([]theme.Event, 0, len(found))
	for _, e := range found {
		all = append(all, theme.Event{ID: e.ID, Type: e.Type, At: time.Unix(e.Created, 0).UTC(), Waiting: int(e.PendingWebhooks)})
	}
	return all, nil
}

// timerText describes the action of a kind of timer.
func timerText(kind string) string {
	words, known := map[string]string{
		"subscription.period_ends":            "Billing period ends",
		"subscription.upcoming":               "Renewal notice",
		"subscription.trial_will_end":         "Trial end notice",
		"subscription.incomplete_expires":     "First payment expires",
		"subscription.pending_items":          "Pending items invoiced",
		"subscription.pending_update_expires": "Pending change expires",
		"subscription_schedule.ends":          "Schedule ends",
		"checkout.expires":                    "Checkout expires",
		"invoice.finalizes":                   "Invoice finalized and paid",
		"invoice.due":                         "Invoice due",
		"invoice.retries":                     "Payment retried",
		"payment_intent.settles":              "Debit settled",
	}[kind]
	if !known {
		return kind
	}
	return words
}

// curl returns a curl command that calls the API.
func (d *Dashboard) curl(path string, args ...string) string {
	return "curl " + d.cfg.API + path + " \\\n  -u " + d.cfg.Key + ": " + strings.Join(args, " ")
}

// nodeHost returns the options that make Stripe's Node client use a URL.
func nodeHost(api string) string {
	scheme, rest, _ := strings.Cut(api, "://")
	host, port, _ := strings.Cut(strings.SplitN(rest, "/", 2)[0], ":")
	options := "{host: '" + host + "', protocol: '" + scheme + "'"
	if port != "" {
		options += ", port: " + port
	}
	return options + "}"
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// coveragePart is the page of supported endpoints.
type coveragePart struct {
	Groups []coverageGroup
	Count  int
}

type coverageGroup struct {
	Name   string
	Routes []coveredRoute
}

// coveredRoute is an endpoint with its parameters.
type coveredRoute struct {
	Method, Path string
	Params       []string
}

func (d *Dashboard) coverage(_ context.Context, _ *kernel.Step, _ *http.Request, f *frame) error {
	f.Title, f.Here = "Coverage", "Coverage"
	part := &coveragePart{Count: len(d.cfg.Routes)}
	f.Coverage = part
	params := coveredParams()
	for _, r := range d.cfg.Routes {
		name := groupOf(r.Path)
		i := slices.IndexFunc(part.Groups, func(g coverageGroup) bool { return g.Name == name })
		if i < 0 {
			i, part.Groups = len(part.Groups), append(part.Groups, coverageGroup{Name: name})
		}
		part.Groups[i].Routes = append(part.Groups[i].Routes, coveredRoute{r.Method, r.Path, params[r.Method+" "+r.Path]})
	}
	return nil
}

// groupOf returns the name of the type of object in a path.
func groupOf(path string) string {
	parts := strings.Split(path, "/")[2:] // without the version
	name := parts[0]
	if len(parts) > 1 && slices.Contains([]string{"billing", "billing_portal", "checkout", "test_helpers", "core"}, name) {
		name += " " + parts[1]
	}
	name = strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(name[:1]) + name[1:]
}
