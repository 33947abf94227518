package clock

import (
	"errors"
	"regexp"
	"time"
)

var (
	rfc3339    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	errRFC3339 = errors.New("not an RFC 3339 time")
)

// ParseRFC3339 parses a time that strictly follows RFC 3339. time.Parse also accepts an offset of
// 24 hours or 60 minutes, a decimal comma, and an hour with one digit (go.dev/issue/54580).
func ParseRFC3339(text string) (time.Time, error) {
	if !rfc3339.MatchString(text) {
		return time.Time{}, errRFC3339
	}
	return time.Parse(time.RFC3339Nano, text)
}
