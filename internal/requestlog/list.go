package requestlog

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
)

var (
	errBadCursor = fault.OnField("cursor", "validation.cursor")
	errBadStatus = fault.OnField("filter.status", "validation.status")
)

// List describes the filters of a tenant's request log. The filter status is parsed separately.
func List() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"method":  {Kind: page.Enum, Exprs: []string{"r.method"}, Values: methods},
			"route":   {Kind: page.ExactMatch, Exprs: []string{"r.route"}},
			"api_key": {Kind: page.UUID, Exprs: []string{"r.api_key_id"}},
		},
		Params: map[string]page.Filter{
			"from": {Kind: page.DateFrom, Exprs: []string{"r.at"}},
			"to":   {Kind: page.DateTo, Exprs: []string{"r.at"}},
		},
		Tiebreak: "r.id", IsCursored: true,
	}
}

// AdminList describes the filters of the request log of all tenants.
func AdminList() page.Spec {
	spec := List()
	spec.Filters["tenant"] = page.Filter{Kind: page.UUID, Exprs: []string{"r.tenant_id"}}
	return spec
}

// selection selects a page of the log.
type selection struct {
	tenant   *uuid.UUID // nil for the log of all tenants
	query    page.Query
	statuses statuses
	after    cursor
	perPage  int32
}

// parseSelection reads the query of a request for a page.
func parseSelection(tenant *uuid.UUID, spec page.Spec, query url.Values, p Part) (selection, error) {
	s := selection{tenant: tenant, perPage: p.PerPage}
	others := url.Values{}
	for name, values := range query {
		if name != "filter[status]" {
			others[name] = values
		}
	}
	var errs [3]error
	s.query, errs[0] = spec.Parse(others)
	s.statuses, errs[1] = parseStatuses(p.Status)
	s.after, errs[2] = parseCursor(p.Cursor)
	return s, fault.Join(errs[:]...)
}

// statuses is a range of HTTP statuses, inclusive. The zero value stands for all.
type statuses struct{ from, to int }

// parseStatuses parses a status, or a class such as 4xx.
func parseStatuses(text string) (statuses, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return statuses{}, nil
	}
	if class, found := strings.CutSuffix(text, "xx"); found {
		if n, err := strconv.Atoi(class); err == nil && (n == 2 || n == 4 || n == 5) {
			return statuses{n * 100, n*100 + 99}, nil
		}
		return statuses{}, errBadStatus
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 || n > 599 {
		return statuses{}, errBadStatus
	}
	return statuses{n, n}, nil
}

// cursor is the position after an entry. Entries are sorted by time and ID, newest first.
type cursor struct {
	at time.Time
	id int64
}

// newest is the position before the newest entry.
var newest = cursor{at: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}

func (c cursor) encode() string {
	text := strconv.FormatInt(c.at.UnixMicro(), 10) + "." + strconv.FormatInt(c.id, 10)
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// parseCursor parses a cursor of the API. An empty text is the position before the newest entry.
func parseCursor(text string) (cursor, error) {
	if text == "" {
		return newest, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return cursor{}, errBadCursor
	}
	before, after, _ := strings.Cut(string(decoded), ".")
	at, err := strconv.ParseInt(before, 10, 64)
	if err != nil {
		return cursor{}, errBadCursor
	}
	id, err := strconv.ParseInt(after, 10, 64)
	c := cursor{at: time.UnixMicro(at).UTC(), id: id}
	// Reject non-canonical spellings, and years that the database cannot store.
	if err != nil || c.at.Year() < 1 || c.at.Year() > 9999 || c.encode() != text {
		return cursor{}, errBadCursor
	}
	return c, nil
}
