// Package timeline reads what has happened, the newest first and by a cursor: anywhere, or
// in one tenant (rules: impersonation#time-lines). It writes nothing. The entries are those
// of the audit trail, with the names of who and what is in them.
package timeline

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Kind is a group of entries that readers ask for.
type Kind string

// Changes are the entries of the audit trail. The other kinds have no entries yet.
const Changes Kind = "changes"

var (
	errBadCursor = fault.OnField("cursor", "validation.cursor")
	errNoTenant  = fault.New(fault.NotFound, "error.not_found")
)

// change is an entry of the audit trail.
type change struct {
	id                   int64
	actor, subject       *int64
	key, tenant          *uuid.UUID
	action               string
	resource, resourceID string
	before, after        sqldb.JSON
	at                   time.Time
}

// place is a place in the order of a time line: between an entry and those after it.
type place struct {
	at time.Time
	id int64
}

// newest is the place before all entries.
func newest() place {
	return place{at: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), id: math.MaxInt64}
}

// cursor is the place as callers get and return it.
func (p place) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.at.UnixMicro(), 10) + "." + strconv.FormatInt(p.id, 10)))
}

// parseCursor returns the place of a cursor, that of the newest entries for "".
func parseCursor(text string) (place, error) {
	if text == "" {
		return newest(), nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return place{}, errBadCursor
	}
	micros, number, _ := strings.Cut(string(decoded), ".")
	at, err := strconv.ParseInt(micros, 10, 64)
	if err != nil {
		return place{}, errBadCursor
	}
	id, err := strconv.ParseInt(number, 10, 64)
	p := place{at: time.UnixMicro(at).UTC(), id: id}
	// Years that a database cannot store, and other ways to write a place, are no cursors.
	if err != nil || p.at.Year() < 1 || p.at.Year() > 9999 || p.cursor() != text {
		return place{}, errBadCursor
	}
	return p, nil
}
