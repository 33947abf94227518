package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rows returns the audit log as text, oldest entry first.
func rows(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	found, err := db.Conn(t.Context()).QueryContext(t.Context(), `SELECT actor_id, subject_id, tenant_id, action, resource, resource_id,
		before, after, ip, user_agent FROM audit_logs ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	var all []string
	for found.Next() {
		var (
			actor, subject                  *int64
			tenant                          *uuid.UUID
			action, resource, id, ip, agent string
			before, after                   sqldb.JSON
		)
		if err := found.Scan(&actor, &subject, &tenant, &action, &resource, &id, &before, &after, &ip, &agent); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(number(actor), " as ", number(subject), " ", tenant != nil, " ", action, " ", resource, "/", id,
			" ", canonical(t, before), " to ", canonical(t, after), " ", ip, " ", agent))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func number(n *int64) any {
	if n == nil {
		return "nobody"
	}
	return *n
}

// canonical returns JSON in a canonical form, because PostgreSQL does not preserve the text.
func canonical(t *testing.T, j sqldb.JSON) string {
	t.Helper()
	if j == nil {
		return "null"
	}
	var v any
	if err := json.Unmarshal(j, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRecord(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		log := audit.New(audit.Deps{DB: db, Clock: clock.NewFixed(noon)})
		tenant := sqldb.NewID()
		own := authz.With(t.Context(), &authz.Caller{UserID: 7})
		own = authz.WithSource(own, authz.Source{IP: "192.0.2.1", UserAgent: "curl"})
		other := authz.With(t.Context(), &authz.Caller{UserID: 9, Impersonator: &authz.Impersonator{UserID: 7}})
		for _, step := range []struct {
			ctx   context.Context
			entry audit.Entry
		}{
			{own, audit.Entry{
				Action: "tenant.updated", TenantID: &tenant, Resource: "tenant", ResourceID: "t",
				Before: map[string]any{"name": "A", "city": "Rome"}, After: map[string]any{"name": "B", "city": "Rome", "big": int64(1 << 62)},
			}},
			{other, audit.Entry{Action: "role.deleted", TenantID: &tenant, Resource: "role", ResourceID: "12", Before: map[string]any{"name": "Clerk"}}},
			{t.Context(), audit.Entry{Action: "admin.created", Resource: "user", ResourceID: "1", After: map[string]any{"permissions": nil}}},
			{t.Context(), audit.Entry{Action: "bare", Resource: "x", ResourceID: "y"}},
		} {
			if err := db.Tx(step.ctx, func(ctx context.Context) error { return log.Record(ctx, step.entry) }); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			`7 as nobody true tenant.updated tenant/t {"name":"A"} to {"big":4611686018427388000,"name":"B"} 192.0.2.1 curl`,
			`7 as 9 true role.deleted role/12 {"name":"Clerk"} to null  `,
			`nobody as nobody false admin.created user/1 null to {"permissions":null}  `,
			`nobody as nobody false bare x/y null to null  `,
		}
		if diff := cmp.Diff(want, rows(t, db)); diff != "" {
			t.Error(diff)
		}
	})
}

// An entry is rolled back together with its change.
func TestEntryIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		log := audit.New(audit.Deps{DB: db, Clock: clock.NewFixed(noon)})
		failure := errors.New("the change failed")
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			if err := log.Record(ctx, audit.Entry{Action: "a", Resource: "r", ResourceID: "1"}); err != nil {
				return err
			}
			return failure
		})
		if !errors.Is(err, failure) {
			t.Fatal(err)
		}
		if got := rows(t, db); len(got) != 0 {
			t.Errorf("entries of a change that was not made: %v", got)
		}
	})
}

func TestSecretsAreNeverStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		log := audit.New(audit.Deps{DB: db, Clock: clock.NewFixed(noon)})
		type settings struct {
			Webhook  map[string]any `json:"webhook"`
			Password string         `json:"Password"`
		}
		err := log.Record(t.Context(), audit.Entry{
			Action: "a", Resource: "r", ResourceID: "1",
			Before: map[string]any{"password_hash": "hush", "token": []string{"hush"}, "name": "kept"},
			After: map[string]any{
				"settings": settings{Webhook: map[string]any{"API-Key": "hush", "clientSecret": map[string]any{"x": "hush"}, "url": "kept"}, Password: "hush"},
				"list":     []any{map[string]any{"private_key": "hush", "refreshToken": "hush"}, "kept"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`nobody as nobody false a r/1 {"name":"kept","password_hash":"[removed]","token":"[removed]"} to ` +
			`{"list":[{"private_key":"[removed]","refreshToken":"[removed]"},"kept"],` +
			`"settings":{"Password":"[removed]","webhook":{"API-Key":"[removed]","clientSecret":"[removed]","url":"kept"}}}  `}
		if diff := cmp.Diff(want, rows(t, db)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnencodableValuesAreRejected(t *testing.T) {
	t.Parallel()
	log := audit.New(audit.Deps{DB: dbtest.New(t, sqldb.SQLite), Clock: clock.NewFixed(noon)})
	for _, e := range []audit.Entry{{Before: func() {}}, {After: make(chan int)}} {
		if err := log.Record(t.Context(), e); err == nil {
			t.Errorf("%v was recorded", e)
		}
	}
}
