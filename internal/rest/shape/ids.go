package shape

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
)

// ErrNotFound is the refusal for what does not exist or belongs to another tenant.
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// ParseID reads a UUID of a path in its one canonical form, in either case. The
// error for any other text is ErrNotFound (rules: http#errors).
func ParseID(text string) (uuid.UUID, error) {
	if len(text) != 36 {
		return uuid.Nil, ErrNotFound
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, ErrNotFound
	}
	return id, nil
}

// IntID reads an integer id of a path. The error for any other text is
// ErrNotFound.
func IntID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != text {
		return 0, ErrNotFound
	}
	return id, nil
}
