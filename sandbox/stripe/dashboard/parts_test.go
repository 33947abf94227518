package dashboard

import "testing"

func TestMoments(t *testing.T) {
	t.Parallel()
	const now = 1_772_359_200 // 1 March 2026, 10:00 UTC
	for away, want := range map[int64]string{
		0: "now", -4: "now", -59: "59 s ago", 59: "in 59 s", -60: "1 min ago", 3599: "in 59 min", -3600: "1 h ago",
		86399: "in 23 h", -86400: "1 day ago", 2 * 86400: "in 2 days", -6 * 86400: "6 days ago", -7 * 86400: "22 Feb 2026", 7 * 86400: "8 Mar 2026",
	} {
		if got := momentAt(now+away, now); got.Text != want {
			t.Errorf("%d s away is %q, want %q", away, got.Text, want)
		}
	}
	if got := momentAt(now, now); got.Exact != "1 March 2026, 10:00:00 UTC" || got.ISO != "2026-03-01T10:00:00Z" {
		t.Errorf("exactly: %+v", got)
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		amount int64
		code   string
	}{
		"€10.00": {1000, "eur"}, "−€0.05": {-5, "eur"}, "$1,234.50": {123450, "usd"}, "£0.00": {0, "gbp"}, "1,000 JPY": {1000, "jpy"}, "-7.00 CHF": {-700, "chf"},
	} {
		if got := money(c.amount, c.code); got != want {
			t.Errorf("%d %s is %q, want %q", c.amount, c.code, got, want)
		}
	}
}

func TestInitials(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ada Lovelace": "AL", "acme": "A", "ada@example.test": "AE", "": "?", "—": "?", "émile Zola d'Or": "ÉZ", "3 Sisters": "3S",
	} {
		if got, hue := initials(name, "cus_1"); got != want || hue == "" {
			t.Errorf("%q is %q in %q, want %q", name, got, hue, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"cus_1": Path + "/customers/cus_1", "sub_1": Path + "/subscriptions/sub_1", "in_1": Path + "/invoices/in_1", "evt_1": Path + "/events/evt_1",
		"pi_1": "", "inpay_1": "", "": "",
	} {
		if got := hrefOf(id); got != want {
			t.Errorf("%s is at %q, want %q", id, got, want)
		}
	}
	if shortID("cus_12") != "cus_12" || shortID("cus_1234567890123456") != "cus_123456…3456" {
		t.Errorf("short: %s", shortID("cus_1234567890123456"))
	}
	for api, want := range map[string]string{
		"http://127.0.0.1:12111": "{host: '127.0.0.1', protocol: 'http', port: 12111}", "https://stripe.test/sandbox/stripe": "{host: 'stripe.test', protocol: 'https'}",
	} {
		if got := nodeHost(api); got != want {
			t.Errorf("%s is %s", api, got)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v1/customers/{id}": "Customers", "/v1/billing/meters/{id}/event_summaries": "Billing meters", "/v1/test_helpers/test_clocks": "Test helpers test clocks", "/v1/account": "Account", "/v2/core/events/{id}": "Core events",
	} {
		if got := groupOf(path); got != want {
			t.Errorf("%s belongs to %q, want %q", path, got, want)
		}
	}
	if got := timerText("invoice.retries"); got != "Payment retried" {
		t.Errorf("retries: %s", got)
	}
	if got := timerText("something.new"); got != "something.new" {
		t.Errorf("an unknown timer: %s", got)
	}
}
