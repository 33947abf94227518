package search

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the SQL of searches.
type store struct{ db *sqldb.DB }

// arguments collects the arguments of a statement.
type arguments struct{ list []any }

func (a *arguments) add(value any) string {
	a.list = append(a.list, value)
	return "$" + strconv.Itoa(len(a.list))
}

func (s store) rows(ctx context.Context, text string, args arguments, row func(scan func(...any) error) error) error {
	return s.db.QueryAll(ctx, sqldb.Query{Doing: "search", Text: text, Args: args.list, Row: row})
}

// objects returns the IDs of objects of a kind that match a query, objects with an exact word
// first. It finds objects by their words, and by the beginning of their ID in table.
//
// It looks up the rarest word first, then the other words for each object found.
func (s store) objects(ctx context.Context, kind Kind, q query, table string) ([]uuid.UUID, error) {
	var found []uuid.UUID
	seen := map[uuid.UUID]bool{}
	collect := func(scan func(...any) error) error {
		var id uuid.UUID
		err := scan(&id)
		if err == nil && !seen[id] {
			seen[id] = true
			found = append(found, id)
		}
		return err
	}
	if err := s.findExact(ctx, kind, q, collect); err != nil {
		return nil, err
	}
	if from, to, ok := idRange(strings.TrimSpace(q.text)); ok {
		var a arguments
		text := "SELECT o.id FROM " + table + " o WHERE " + inRange(a.add(from), a.add(to))("o.id") + s.ofTenant(q, "o", &a) + " ORDER BY o.id LIMIT " + a.add(mostHits)
		if err := s.rows(ctx, text, a, collect); err != nil {
			return nil, err
		}
	}
	terms := Terms(q.text)
	if len(terms) == 0 {
		return found, nil
	}
	rarest, err := s.rarest(ctx, kind, q, terms)
	if err != nil {
		return nil, err
	}
	var a arguments
	first := rarest
	k := a.add(string(kind))
	var text strings.Builder
	text.WriteString("SELECT w.id FROM search_words w WHERE w.kind = " + k + " AND w.word >= " + a.add(first) + " AND w.word < " + a.add(first+page.PrefixEnd) + s.ofTenant(q, "w", &a))
	others := slices.DeleteFunc(terms, func(term string) bool { return term == first })
	for _, condition := range eachOf(others, func(in func(string) string) string {
		return "EXISTS (SELECT 1 FROM search_words o WHERE o.kind = " + k + " AND o.id = w.id AND " + in("o.word") + ")"
	}, a.add) {
		text.WriteString(" AND " + condition)
	}
	return found, s.rows(ctx, text.String()+" ORDER BY w.word, w.id LIMIT "+a.add(candidates), a, collect)
}

// findExact finds objects with the query as a whole slug, code, number or the like.
func (s store) findExact(ctx context.Context, kind Kind, q query, collect func(scan func(...any) error) error) error {
	var a arguments
	text := "SELECT w.id FROM search_words w WHERE w.kind = " + a.add(string(kind)) + " AND w.word = " + a.add(singleWord(q.text)) + " AND w.is_whole" +
		s.ofTenant(q, "w", &a) + " ORDER BY w.id LIMIT " + a.add(mostHits)
	return s.rows(ctx, text, a, collect)
}

// ofTenant returns the condition for the objects of the tenant of a query, or "".
func (s store) ofTenant(q query, alias string, a *arguments) string {
	if q.tenant == nil {
		return ""
	}
	return " AND " + alias + ".tenant_id = " + a.add(*q.tenant)
}

// rareEnough is the number of matches from which words count as equally frequent.
const rareEnough = 500

// rarest returns the term with the fewest matches.
func (s store) rarest(ctx context.Context, kind Kind, q query, terms []string) (string, error) {
	rarest, fewest := terms[0], int64(-1)
	if len(terms) == 1 {
		return rarest, nil
	}
	for _, term := range terms {
		var a arguments
		text := "SELECT count(*) FROM (SELECT 1 FROM search_words w WHERE w.kind = " + a.add(string(kind)) + " AND w.word >= " + a.add(term) +
			" AND w.word < " + a.add(term+page.PrefixEnd) + s.ofTenant(q, "w", &a) + " LIMIT " + a.add(rareEnough) + ") AS few"
		err := s.rows(ctx, text, a, func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			if fewest < 0 || n < fewest {
				rarest, fewest = term, n
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return rarest, nil
}

// byIDs reads the details of objects. text ends before the list of their IDs.
func (s store) byIDs(ctx context.Context, text string, ids []uuid.UUID, row func(scan func(...any) error) (hit, error)) ([]hit, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []hit
	among, args := sqldb.InCondition(s.db, 1, "uuid", ids)
	err := s.rows(ctx, text+" "+among, arguments{args}, func(scan func(...any) error) error {
		h, err := row(scan)
		found = append(found, h)
		return err
	})
	return found, err
}

// plans finds plans that are not deleted.
func (s store) plans(ctx context.Context, q query) ([]hit, error) {
	shared := q
	shared.tenant = nil // plans belong to no tenant
	ids, err := s.objects(ctx, Plan, shared, "plans")
	if err != nil {
		return nil, err
	}
	return s.byIDs(ctx, "SELECT p.id, p.name, p.slug, p.is_active FROM plans p WHERE p.deleted_at IS NULL"+q.onlyActive("p")+" AND p.id", ids, func(scan func(...any) error) (hit, error) {
		var names sqldb.JSON
		var id uuid.UUID
		var slug string
		var isActive bool
		if err := scan(&id, &names, &slug, &isActive); err != nil {
			return hit{}, err
		}
		byLocale := map[string]string{}
		err := json.Unmarshal(names, &byLocale)
		return hit{id: id.String(), title: i18n.Pick(byLocale, q.locale), subtitle: slug, status: activity(isActive), wholes: []string{slug}}, err
	})
}

// onlyActive returns the condition for active objects. Tenants see only these.
func (q query) onlyActive(alias string) string {
	if q.tenant == nil {
		return ""
	}
	return " AND " + alias + ".is_active"
}

// activity returns the status of an object that can be switched off.
func activity(isActive bool) *string {
	status := "inactive"
	if isActive {
		status = "active"
	}
	return &status
}

// meters finds meters that are not deleted.
func (s store) meters(ctx context.Context, q query) ([]hit, error) {
	shared := q
	shared.tenant = nil
	ids, err := s.objects(ctx, Meter, shared, "meters")
	if err != nil {
		return nil, err
	}
	return s.byIDs(ctx, "SELECT m.id, m.name, m.code, m.is_active FROM meters m WHERE m.deleted_at IS NULL"+q.onlyActive("m")+" AND m.id", ids, func(scan func(...any) error) (hit, error) {
		var id uuid.UUID
		var h hit
		var isActive bool
		err := scan(&id, &h.title, &h.subtitle, &isActive)
		h.id, h.status, h.wholes = id.String(), activity(isActive), []string{h.subtitle}
		return h, err
	})
}

// invoices finds invoices by number and ID.
func (s store) invoices(ctx context.Context, q query) ([]hit, error) {
	ids, err := s.objects(ctx, Invoice, q, "invoice_copies")
	if err != nil {
		return nil, err
	}
	const text = "SELECT c.id, c.tenant_id, c.body, c.status, t.name FROM invoice_copies c JOIN tenants t ON t.id = c.tenant_id WHERE c.id"
	return s.byIDs(ctx, text, ids, func(scan func(...any) error) (hit, error) {
		var id, tenantID uuid.UUID
		var body sqldb.JSON
		var h hit
		if err := scan(&id, &tenantID, &body, &h.status, &h.subtitle); err != nil {
			return h, err
		}
		var of struct{ Number string }
		err := json.Unmarshal(body, &of)
		h.id, h.title, h.wholes = id.String(), of.Number, []string{of.Number}
		h.url = "/platform/tenants/" + tenantID.String() + "/invoices/" + h.id
		if q.tenant != nil {
			h.url = "/invoices/" + h.id
		}
		return h, err
	})
}

// apiKeys finds API keys that have not ended before since.
func (s store) apiKeys(ctx context.Context, q query, now, since time.Time) ([]hit, error) {
	ids, err := s.objects(ctx, APIKey, q, "api_keys")
	if err != nil {
		return nil, err
	}
	const text = "SELECT k.id, k.tenant_id, k.name, k.prefix, k.expires_at, k.revoked_at, t.name, t.deleted_at FROM api_keys k LEFT JOIN tenants t ON t.id = k.tenant_id WHERE k.id"
	found, err := s.byIDs(ctx, text, ids, func(scan func(...any) error) (hit, error) {
		var (
			id         uuid.UUID
			tenantID   *uuid.UUID
			h          hit
			tenantName *string

			expires, revoked, tenantDeleted *time.Time
		)
		if err := scan(&id, &tenantID, &h.title, &h.subtitle, &expires, &revoked, &tenantName, &tenantDeleted); err != nil {
			return h, err
		}
		h.id, h.wholes, h.url = id.String(), []string{h.subtitle}, "/platform/developers"
		status := "active"
		switch {
		case revoked != nil:
			status = "revoked"
		case expires != nil && !expires.After(now):
			status = "expired"
		case tenantDeleted != nil:
			status = "inactive" // active again if the tenant is restored
		}
		if h.status = &status; revoked != nil && revoked.Before(since) || expires != nil && expires.Before(since) {
			h.id = "" // ended too long ago
		}
		switch {
		case q.tenant != nil:
			h.url = "/developers"
		case tenantID != nil:
			h.url = "/platform/tenants/" + tenantID.String()
			h.subtitle += " · " + *tenantName
		}
		return h, nil
	})
	kept := found[:0]
	for _, h := range found {
		if h.id != "" {
			kept = append(kept, h)
		}
	}
	return kept, err
}
