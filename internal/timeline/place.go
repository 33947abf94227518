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
)

// cursor is a place in the order of a time line: between an entry and those after it. The
// newest entries come first; those of one moment by their source, in the order of sources,
// and then by their ids, the highest first.
type cursor struct {
	at     time.Time
	source int
	id     key
}

// key is the id of an entry among those of its source.
type key struct {
	number int64
	uuid   uuid.UUID
	meter  uuid.UUID
}

// form is what the keys of a source are made of.
type form int

const (
	byNumber form = iota // a number
	byID                 // a UUID
	byStream             // a tenant, as uuid, and a meter, in the hour that is the number
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

// parseKey returns the key that String wrote. It takes other texts too; whoever needs to know
// compares them.
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

// hourOf counts the hours from 1970 to the one that a moment is in, in UTC.
func hourOf(at time.Time) int64 { return at.Truncate(time.Hour).Unix() / 3600 }

// startOf is when an hour began.
func startOf(hour int64) time.Time { return time.Unix(hour*3600, 0).UTC() }

// The keys below and above those of all entries.
var (
	lowest  = key{number: math.MinInt64}
	highest = key{number: math.MaxInt64, uuid: uuid.Max, meter: uuid.Max}
)

// startCursor is the place before all entries.
func startCursor() cursor {
	return cursor{at: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), source: -1, id: highest}
}

// keyIn returns the key that entries of a source at the moment of the place must be below: those
// of the sources before its own are told already, and those of the sources after it are not.
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

// compare orders places as entries are told.
func (p cursor) compare(other cursor) int {
	return cmp.Or(other.at.Compare(p.at), cmp.Compare(p.source, other.source), cmp.Compare(other.id.number, p.id.number),
		bytes.Compare(other.id.uuid[:], p.id.uuid[:]), bytes.Compare(other.id.meter[:], p.id.meter[:]))
}

// encode is the place as callers get and return it.
func (p cursor) encode() string {
	text := strconv.FormatInt(p.at.UnixMicro(), 10) + "." + sources[p.source].name + "." + p.id.String()
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// parseCursor returns the place of a cursor, that of the newest entries for "".
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
	// Years that a database cannot store, and other ways to write a place, are no cursors.
	if err != nil || k.form() != sources[source].keys || p.at.Year() < 1 || p.at.Year() > 9999 || p.encode() != text {
		return cursor{}, errBadCursor
	}
	if k.form() == byStream && !startOf(k.number).Equal(p.at) {
		return cursor{}, errBadCursor
	}
	return p, nil
}
