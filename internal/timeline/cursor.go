package timeline

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
)

// cursor is a position in a timeline, between an entry and the ones after it. Entries are sorted
// newest first. Entries with the same timestamp are sorted by source, in the order of sources, and
// then by descending ID.
type cursor struct {
	at     time.Time
	source int
	id     key
}

// key identifies an entry within its source.
type key struct {
	number int64
	uuid   uuid.UUID
	meter  uuid.UUID
}

// form is the kind of key that a source uses.
type form int

const (
	byNumber form = iota // a number
	byID                 // a UUID
	byStream             // a tenant (uuid) and a meter, in an hour (number)
)

func (k key) form() form {
	switch {
	case k.meter != uuid.Nil:
		return byStream
	case k.number != 0:
		return byNumber
	default:
		return byID
	}
}

func (k key) String() string {
	switch k.form() {
	case byNumber:
		return strconv.FormatInt(k.number, 10)
	case byStream:
		return strconv.FormatInt(k.number, 10) + "_" + k.uuid.String() + "_" + k.meter.String()
	default:
		return k.uuid.String()
	}
}

// parseKey parses the output of String. It also accepts non-canonical text; callers that require
// canonical text must compare it with the result of String.
func parseKey(text string) (key, error) {
	var k key
	if hour, rest, found := strings.Cut(text, "_"); found {
		tenant, meter, _ := strings.Cut(rest, "_")
		var errs [3]error
		k.number, errs[0] = strconv.ParseInt(hour, 10, 64)
		k.uuid, errs[1] = uuid.Parse(tenant)
		k.meter, errs[2] = uuid.Parse(meter)
		return k, errors.Join(errs[:]...)
	}
	var err error
	if k.number, err = strconv.ParseInt(text, 10, 64); err == nil {
		return k, nil
	}
	k.uuid, err = uuid.Parse(text)
	return key{uuid: k.uuid}, err
}

// hourOf returns the number of full hours between 1970 and the time, in UTC.
func hourOf(at time.Time) int64 { return at.Truncate(time.Hour).Unix() / 3600 }

// startOf returns the start of an hour returned by hourOf.
func startOf(hour int64) time.Time { return time.Unix(hour*3600, 0).UTC() }

// Keys below and above the key of every entry.
var (
	lowest  = key{number: math.MinInt64}
	highest = key{number: math.MaxInt64, uuid: uuid.Max, meter: uuid.Max}
)

// startCursor returns the position before the newest entry.
func startCursor() cursor {
	return cursor{at: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), source: -1, id: highest}
}

// timeOf returns the time of a valid datetime, in UTC.
func timeOf(text string) time.Time {
	at, _ := clock.ParseRFC3339(text)
	return at.UTC().Truncate(time.Microsecond)
}

// before returns the cursor from which the next entry is the newest entry older than a time.
func before(at time.Time) cursor { return cursor{at: at, source: len(sources), id: lowest} }

// notBefore returns the later one of the positions p and other.
func (p cursor) notBefore(other cursor) cursor {
	if p.compare(other) < 0 {
		return other
	}
	return p
}

// keyIn returns the upper bound, exclusive, for keys of the source at the timestamp of the cursor.
// Sources before p.source have been listed completely; sources after it have not been listed.
func (p cursor) keyIn(source int) key {
	switch cmp.Compare(source, p.source) {
	case -1:
		return lowest
	case 0:
		return p.id
	default:
		return highest
	}
}

// compare orders cursors by the position of their entries.
func (p cursor) compare(other cursor) int {
	return cmp.Or(other.at.Compare(p.at), cmp.Compare(p.source, other.source), cmp.Compare(other.id.number, p.id.number),
		bytes.Compare(other.id.uuid[:], p.id.uuid[:]), bytes.Compare(other.id.meter[:], p.id.meter[:]))
}

// encode returns the cursor in the form used by the API.
func (p cursor) encode() string {
	text := strconv.FormatInt(p.at.UnixMicro(), 10) + "." + sources[p.source].name + "." + p.id.String()
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// parseCursor parses a cursor of the API. An empty text is the position before the newest entry.
func parseCursor(text string) (cursor, error) {
	if text == "" {
		return startCursor(), nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return cursor{}, errBadCursor
	}
	parts := strings.Split(string(decoded), ".")
	if len(parts) != 3 {
		return cursor{}, errBadCursor
	}
	source := slices.IndexFunc(sources, func(s source) bool { return s.name == parts[1] })
	at, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || source < 0 {
		return cursor{}, errBadCursor
	}
	k, err := parseKey(parts[2])
	p := cursor{at: time.UnixMicro(at).UTC(), source: source, id: k}
	// Reject non-canonical spellings, and years that the database cannot store.
	if err != nil || k.form() != sources[source].keys || p.at.Year() < 1 || p.at.Year() > 9999 || p.encode() != text {
		return cursor{}, errBadCursor
	}
	if k.form() == byStream && !startOf(k.number).Equal(p.at) {
		return cursor{}, errBadCursor
	}
	return p, nil
}
