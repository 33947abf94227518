package sqldb

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// NewID returns a new UUID of version 7: it begins with the time, so that new
// rows go to the end of an index.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// JSON is the text of a JSON value in a jsonb column; nil is SQL's NULL.
// PostgreSQL keeps the value and not the text: order of keys and spaces may
// change.
type JSON []byte

// Scan reads a column.
func (j *JSON) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*j = nil
	case string:
		*j = JSON(v)
	case []byte:
		*j = append(JSON{}, v...)
	default:
		return fmt.Errorf("sqldb: cannot read JSON from %T", src)
	}
	return nil
}

// Value writes a column. It is a string because PostgreSQL's driver would take
// bytes for binary data.
func (j JSON) Value() (driver.Value, error) {
	if j == nil {
		return nil, nil
	}
	return string(j), nil
}

// MarshalJSON returns the text itself, null for nil.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == nil {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps a copy of data; the value null becomes nil.
func (j *JSON) UnmarshalJSON(data []byte) error {
	if j == nil {
		return errors.New("sqldb: UnmarshalJSON on a nil JSON")
	}
	if string(data) == "null" {
		*j = nil
		return nil
	}
	*j = append(JSON{}, data...)
	return nil
}
