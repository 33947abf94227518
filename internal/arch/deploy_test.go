package arch

import (
	"regexp"
	"strings"
	"testing"
)

var (
	runbook = regexp.MustCompile(`(?m)^\s+runbook: (\S+)#(\S+)$`)
	alert   = regexp.MustCompile(`(?m)^\s+(?:- alert|.*alertname): (Tenantry[A-Za-z]+)`)
)

// Each alert links to a section of a page with instructions, and has a test.
func TestAlertLinksResolve(t *testing.T) {
	t.Parallel()
	rules, tests := read(t, "../../deploy/prometheus/alerts.yml"), read(t, "../../deploy/prometheus/alerts_test.yml")
	names, books := alert.FindAllStringSubmatch(rules, -1), runbook.FindAllStringSubmatch(rules, -1)
	if len(names) < 15 || len(names) != len(books) {
		t.Errorf("%d alerts have %d runbooks", len(names), len(books))
	}
	for _, book := range books {
		if !slugs(read(t, "../../"+book[1]))[book[2]] {
			t.Errorf("%s lacks a heading for #%s", book[1], book[2])
		}
	}
	for _, name := range names {
		if !strings.Contains(tests, "alertname: "+name[1]) {
			t.Errorf("no test of the rules has %s", name[1])
		}
	}
}
