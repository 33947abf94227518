package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// mostHits is the number of results per group.
	mostHits = 5
	// candidates is the number of matches that are read and ranked.
	candidates = 50
)

// hit is an object that matches a query.
type hit struct {
	id              string
	title, subtitle string
	status          *string
	url             string
	// a query that equals one of wholes makes the hit the best match.
	wholes []string
}

// Service finds objects of all tenants or of one.
type Service struct {
	store store
	clock clock.Clock
}

// NewService returns a Service.
func NewService(db *sqldb.DB, c clock.Clock) *Service { return &Service{store{db}, c} }

// query is a search.
type query struct {
	text   string
	tenant *uuid.UUID // nil finds the objects of all tenants
	locale string
}

// best returns the best matches of a query, best first: exact IDs, emails, slugs, numbers and the
// like, then titles that begin with the query, then titles with all its words, then others.
func best(q query, found []hit) []hit {
	rank := func(h hit) int {
		text, title := singleWord(q.text), normalize(h.title)
		isExact := func(of string) bool {
			return slices.ContainsFunc(spellings(of), func(spelling string) bool { return singleWord(spelling) == text })
		}
		switch {
		case isExact(h.id) || slices.ContainsFunc(h.wholes, isExact):
			return 0
		case strings.HasPrefix(title, text):
			return 1
		case containsAll(splitWords(h.title), Terms(q.text)):
			return 2
		}
		return 3
	}
	slices.SortStableFunc(found, func(a, b hit) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(normalize(a.title), normalize(b.title)), cmp.Compare(a.id, b.id))
	})
	return found[:min(len(found), mostHits)]
}

// containsAll reports whether each term is the beginning of a word.
func containsAll(words, terms []string) bool {
	return !slices.ContainsFunc(terms, func(term string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, term) })
	})
}

// find returns the best matches of a group.
func (s *Service) find(ctx context.Context, q query, read func(ctx context.Context, q query) ([]hit, error)) ([]hit, error) {
	found, err := read(ctx, q)
	return best(q, found), err
}
