package search

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// tenants finds tenants that are not deleted. Tenants with an exact slug, external ID, domain or
// member's email are always among the candidates.
func (s store) tenants(ctx context.Context, q query) ([]hit, error) {
	var found []hit
	var ids []uuid.UUID
	read := func(condition string, a arguments) error {
		text := "SELECT t.id, t.name, t.slug, t.external_id FROM tenants t WHERE t.deleted_at IS NULL AND (" + condition + ") LIMIT " + a.add(candidates)
		return s.rows(ctx, text, a, func(scan func(...any) error) error {
			var id uuid.UUID
			var h hit
			var external *string
			if err := scan(&id, &h.title, &h.subtitle, &external); err != nil || slices.Contains(ids, id) {
				return err
			}
			ids = append(ids, id)
			h.id, h.wholes, h.url = id.String(), []string{h.subtitle}, "/platform/tenants/"+id.String()
			if external != nil {
				h.wholes = append(h.wholes, *external)
			}
			found = append(found, h)
			return nil
		})
	}
	var a arguments
	word := a.add(singleWord(q.text))
	exact := "t.id IN (" + tenants.of(func(column string) string {
		return column + " = " + word + " AND w.is_whole"
	}) + ")"
	if err := read(exact, a); err != nil {
		return nil, err
	}
	for i := range found { // a slug, external ID, domain or email of each hit equals the query
		found[i].wholes = append(found[i].wholes, q.text)
	}
	if err := s.readMatches(ctx, tenants, q, read, func() bool { return len(found) >= candidates }); err != nil || len(ids) == 0 {
		return nil, err
	}
	among, args := sqldb.InCondition(s.db, 1, "uuid", ids)
	return found, s.rows(ctx, "SELECT s.tenant_id, s.status FROM subscriptions s WHERE s.status NOT IN ('canceled', 'incomplete_expired') AND s.tenant_id "+among,
		arguments{args}, func(scan func(...any) error) error {
			var id uuid.UUID
			var status string
			if err := scan(&id, &status); err != nil {
				return err
			}
			found[slices.Index(ids, id)].status = &status
			return nil
		})
}

// readMatches calls read with the condition for the matches of a query. If one word makes up the query,
// it first tries the early matches, which may be enough.
func (s store) readMatches(ctx context.Context, t target, q query, read func(condition string, a arguments) error, isEnough func() bool) error {
	var a, b arguments
	if early := t.earlyMatchCondition(q.text, a.add); early != "" {
		if err := read(early, a); err != nil || isEnough() {
			return err
		}
	}
	rarestFirst, err := s.countWords(ctx, t, Terms(q.text))
	if err != nil {
		return err
	}
	return read(t.condition(q.text, rarestFirst, b.add), b)
}

// countWords returns a function that sorts words by the number of their matches. Words with at least
// rareEnough matches count as equally frequent.
func (s store) countWords(ctx context.Context, t target, terms []string) (func(words []string) []string, error) {
	if len(terms) < 2 {
		return byRarity, nil
	}
	counts := map[string]int64{}
	for _, term := range terms {
		var a arguments
		text := "SELECT count(*) FROM (SELECT f.id FROM (" + t.of(beginsWith(term, a.add)) + ") AS f LIMIT " + a.add(rareEnough) + ") AS few"
		err := s.rows(ctx, text, a, func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			counts[term] = n
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	rarest := func(word string) (n int64) {
		n = rareEnough
		for _, term := range Terms(word) {
			n = min(n, counts[term])
		}
		return n
	}
	return func(words []string) []string {
		slices.SortStableFunc(byRarity(words), func(a, b string) int { return cmp.Compare(rarest(a), rarest(b)) })
		return words
	}, nil
}

// users finds users that are not deleted.
func (s store) users(ctx context.Context, q query) ([]hit, error) {
	return s.people(ctx, q, "", func(h *hit, tenantID *uuid.UUID) {
		h.url = "/platform/tenants"
		if tenantID != nil {
			h.url += "/" + tenantID.String() + "/people"
		}
	})
}

// members finds the members of the tenant of a query.
func (s store) members(ctx context.Context, q query) ([]hit, error) {
	return s.people(ctx, q, " AND m.tenant_id = ", func(h *hit, _ *uuid.UUID) { h.url = "/team" })
}

func (s store) people(ctx context.Context, q query, only string, complete func(h *hit, tenantID *uuid.UUID)) ([]hit, error) {
	var found []hit
	seen := map[int64]bool{}
	read := func(condition string, a arguments) error {
		condition = "(" + condition + ")"
		if only != "" {
			condition += only + a.add(*q.tenant)
		}
		text := `SELECT u.id, u.name, u.email, m.tenant_id FROM users u LEFT JOIN memberships m ON m.user_id = u.id
WHERE u.deleted_at IS NULL AND ` + condition + " LIMIT " + a.add(candidates)
		return s.rows(ctx, text, a, func(scan func(...any) error) error {
			var id int64
			var h hit
			var tenantID *uuid.UUID
			if err := scan(&id, &h.title, &h.subtitle, &tenantID); err != nil || seen[id] {
				return err
			}
			seen[id] = true
			h.id, h.wholes = strconv.FormatInt(id, 10), []string{h.subtitle}
			complete(&h, tenantID)
			found = append(found, h)
			return nil
		})
	}
	var a arguments
	exact := "u.id IN (SELECT w.user_id FROM user_words w WHERE w.word = " + a.add(singleWord(q.text)) + " AND w.is_whole)"
	if err := read(exact, a); err != nil {
		return nil, err
	}
	if only != "" { // few users, so each is looked up
		var b arguments
		return found, read(users.hasAll(q.text, b.add), b)
	}
	return found, s.readMatches(ctx, users, q, read, func() bool { return len(found) >= candidates })
}
