package distribution_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const scriptFile = "../../../deploy/citus/distribute.sql"

// schema reads the schema of a database. With TENANTRY_TEST_SPREAD set, the test databases are
// distributed.
func schema(t *testing.T, db *sqldb.DB) dbtest.Schema {
	t.Helper()
	s, err := dbtest.ReadSchema(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tables) < 60 || len(s.Keys) < 60 || len(s.References) < 40 {
		t.Fatalf("the schema was not read: %+v", s)
	}
	return s
}

// Every table has a class.
func TestEveryTableHasAClass(t *testing.T) {
	t.Parallel()
	s := schema(t, dbtest.New(t, sqldb.Postgres))
	for _, table := range s.Tables {
		if distribution.Tables[table] == "" {
			t.Errorf("%s lacks a class in tables.go: distributed, reference or local", table)
		}
	}
	for table := range distribution.Tables {
		if !slices.Contains(s.Tables, table) {
			t.Errorf("unknown table %s", table)
		}
	}
}

// Every key and reference of a distributed table includes the tenant, on a single server as well,
// so that distribution only changes where rows are stored. A key that starts with the tenant is
// unique within the tenant. A key that ends with the tenant needs a reason why its other columns
// are unique across tenants.
func TestKeysNameTheTenant(t *testing.T) {
	t.Parallel()
	s := schema(t, dbtest.New(t, sqldb.Postgres))
	found := map[string]bool{}
	keys := s.Keys
	s.Keys = nil
	for _, k := range keys {
		at := slices.Index(k.Columns, distribution.Column)
		switch last := len(k.Columns) - 1; {
		case distribution.Tables[k.Table] != distribution.Distributed:
		case at == last && last > 0 && distribution.TenantKeys[k.Name] != "":
			found[k.Name] = true
		case at < 0:
			s.Keys = append(s.Keys, k) // Faults reports it
		case at == last && last > 0:
			t.Errorf("%s of %s ends with %s: explain in tables.go why it is unique across tenants", k.Name, k.Table, distribution.Column)
		case at > 0:
			t.Errorf("%s of %s (%v) has %s in the middle", k.Name, k.Table, k.Columns, distribution.Column)
		}
	}
	for _, fault := range s.Faults() {
		t.Error(fault)
	}
	for name := range distribution.TenantKeys {
		if !found[name] {
			t.Errorf("unknown key %s: remove it from the list", name)
		}
	}
}

// deploy/citus/distribute.sql matches the classes.
func TestScriptIsCurrent(t *testing.T) {
	t.Parallel()
	want := distribution.Script(distribution.DefaultShards)
	if os.Getenv("TENANTRY_UPDATE") != "" {
		if err := os.WriteFile(scriptFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(scriptFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("deploy/citus/distribute.sql does not match the classes: run make generate")
	}
}

// The script produces a schema that Citus accepts, with the same keys and references, and every
// generated statement can still be prepared.
func TestScriptProducesValidSchema(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres)
	before := schema(t, db)
	told, err := dbtest.Spread(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	after := schema(t, db)
	for _, fault := range after.Faults() {
		t.Error(fault)
	}
	if len(after.Keys) != len(before.Keys) || len(after.References) != len(before.References) {
		t.Errorf("%d keys and %d references became %d and %d", len(before.Keys), len(before.References), len(after.Keys), len(after.References))
	}
	for table, class := range distribution.Tables {
		if !slices.Contains(told, string(class)+" "+table) {
			t.Errorf("%s is %s, but the Citus statements differ", table, class)
		}
	}
	prepareAll(t, db)
}

func prepareAll(t *testing.T, db *sqldb.DB) {
	t.Helper()
	for i, q := range queries(t) {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), fmt.Sprintf("PREPARE q%d AS %s", i, q.text)); err != nil {
			t.Errorf("%s: %v", q.name, err)
		}
	}
}

// across lists the statements that search the rows of all tenants in distributed tables, by package
// and name or function, each with its reason. Citus sends them to every shard.
var across = map[string]string{
	"creditnote.pageAcross":               "an admin's list across tenants",
	"creditnote.sumAcross":                "an admin's list across tenants",
	"entitlement.hasSubscribers":          "an admin deletes a plan",
	"history.eventsBetween":               "the command line recounts all tenants",
	"history.hoursBetween":                "the command line recounts all tenants",
	"stats.failures":                      "figures of the platform",
	"stats.openFailures":                  "figures of the platform",
	"subscription.pageAcross":             "an admin's list across tenants",
	"tenant.hasPlan":                      "a filter of an admin's list",
	"tenant.hasStatus":                    "a filter of an admin's list",
	"tenant.trialEndsBefore":              "a filter of an admin's list",
	"tenant.withRevenue":                  "an admin's list of tenants by revenue",
	"subscriptionsql.HadTrialAsOwner":     "an owner has one trial of a product, in whichever tenant it began",
	"discountsql.CountHolds":              "a promotion code is limited across all tenants",
	"discountsql.ExpiredHolds":            "a promotion code is limited across all tenants",
	"usagesql.ExpiredGrants":              "a job that runs every minute finds the grants that have expired",
	"usagesql.OldReservations":            "a job deletes old reservations, up to its limit",
	"customersql.StaleRegistrations":      "a job finds the numbers to check again",
	"entitlementsql.Digests":              "a job goes through the tenants",
	"historysql.UnsummedStreams":          "a job goes through the streams",
	"retentionsql.StreamsFrom":            "a job goes through the streams",
	"retentionsql.StreamsWithEvents":      "a job goes through the streams",
	"entitlementsql.ListExpired":          "a job that runs every minute finds the overrides that have expired",
	"subscriptionsql.ListRenewals":        "a job that runs every minute finds the renewals to announce",
	"invoicesql.ListReminders":            "a job that runs every minute finds the reminders to send",
	"invoicesql.ListLastAttempts":         "a job that runs every minute finds the attempts to announce",
	"entitlementsql.ListGraceEnded":       "a job that runs every minute finds the grace periods that have ended",
	"billingsql.CountRejections":          "the figure of a metric",
	"billingsql.CountersOfPeriodEnd":      "periods of all tenants that have just ended",
	"billingsql.PruneDecided":             "of all tenants, days after the decision",
	"billingsql.Rejections":               "the command line lists the rejections of all tenants",
	"billingsql.SettlingTenants":          "operations in progress, before usage of several tenants is stored",
	"billingsql.TakeRejection":            "the command line names one by its id",
	"currencysql.CountAmounts":            "an admin changes the decimals of a currency",
	"historysql.StatesBetween":            "the command line recounts all tenants",
	"invoicesql.InvoicedTenants":          "everything is compared with the provider, daily",
	"journalsql.UnnotedSubscriptions":     "of all tenants, every ten minutes",
	"metersql.DeleteCountersOfMeter":      "the meter is deleted for all tenants",
	"purchasesql.OpenPurchases":           "of all tenants, every ten minutes",
	"reconcilesql.AnySeen":                "everything is compared with the provider, daily",
	"reconcilesql.MarkSeen":               "everything is compared with the provider, daily",
	"reconcilesql.UnseenSubscriptions":    "everything is compared with the provider, daily",
	"retentionsql.CountersBetween":        "the command line recounts all tenants",
	"retentionsql.ExpireKeys":             "of all tenants, at the end of their retention",
	"ratessql.IsUsed":                     "an admin stores the exchange rate of an inactive currency",
	"ratessql.UsedCurrencies":             "the command line checks exchange rates",
	"selfservicesql.CappedTenants":        "a user deletes their account",
	"statssql.LiveSubscriptions":          "figures of the platform",
	"statssql.QuotaRefusals":              "figures of the platform",
	"statssql.RefusedTenants":             "figures of the platform",
	"subscriptionsql.CountDefaultTenants": "an admin looks at a plan",
	"subscriptionsql.CustomersOfPlan":     "an admin archives or prices a plan",
	"subscriptionsql.LiveOfPlan":          "an admin archives or prices a plan",
	"subscriptionsql.UndecidedMetered":    "of all tenants, hourly",
	"timelinesql.AlertsBefore":            "the platform's time line",
	"timelinesql.PaymentsBefore":          "the platform's time line",
	"timelinesql.RefusalsBefore":          "the platform's time line",
	"usagesql.TenantOfAlert":              "a job carries the id of an alert",
}

var (
	// generated matches a statement in generated code.
	generated = regexp.MustCompile("(?s)`-- name: (\\w+) [^\n]*\n(.*?)`")
	// list matches a list of values in generated code.
	list    = regexp.MustCompile(`/\*SLICE:\w+\*/\?`)
	comment = regexp.MustCompile(`(?m)--.*$`)
	// position matches the condition of a list that continues after a tenant and covers all
	// tenants.
	position = regexp.MustCompile(`(?i)\btenant_id\s*>`)
	locks    = regexp.MustCompile(`(?i)\bfor\s+(?:no\s+key\s+)?(?:update|share|key\s+share)\b`)
)

// A statement on distributed tables limits each of them to given tenants, so that Citus runs it
// only on the shards with the rows. No statement combines distributed and local tables.
func TestStatementsNameTheTenant(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, q := range append(queries(t), handwritten(t)...) {
		text := comment.ReplaceAllString(q.text, "")
		spread, unbound := tablesOf(text)
		if len(spread) == 0 {
			continue
		}
		if local := localTables(text); len(local) > 0 {
			t.Errorf("%s reads %v, which are distributed, with %v, which are local: use two statements", q.name, spread, local)
		}
		if len(unbound) == 0 && !position.MatchString(text) {
			continue
		}
		if found[q.name] = true; len(unbound) == 0 {
			unbound = spread // the list covers all tenants
		}
		if across[q.name] == "" {
			t.Errorf("%s does not limit %v to given tenants, so Citus would ask all shards. Compare tenant_id of each of these tables with a parameter "+
				"or with tenant_id of a limited table, name tenant_id in the columns of an INSERT, or add %q to across with the reason:\n%s",
				q.name, unbound, q.name, strings.TrimSpace(text))
		}
		if locks.MatchString(text) {
			t.Errorf("%s locks rows of %v in all shards, which Citus rejects", q.name, spread)
		}
	}
	for name := range across {
		if !found[name] {
			t.Errorf("%s reads one tenant: remove it from the list", name)
		}
	}
}

type query struct{ name, text string }

// queries returns the statements of all generated packages.
func queries(t *testing.T) []query {
	t.Helper()
	var all []query
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".sql.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, m := range generated.FindAllStringSubmatch(string(code), -1) {
			all = append(all, query{filepath.Base(filepath.Dir(path)) + "." + m[1], list.ReplaceAllString(m[2], "$$1")})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("found only %d statements", len(all))
	}
	return all
}
