package sqldb

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// NewID returns a new UUIDv7. It starts with the time, so new rows are appended at the end of an
// index.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// JSON is the text of a JSON value in a jsonb column; nil is SQL NULL. PostgreSQL stores the value,
// not the text, so the order of keys and whitespace can change.
type JSON []byte

// Scan implements sql.Scanner.
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

// Value implements driver.Valuer. It returns a string, because the PostgreSQL driver would treat
// bytes as binary data.
func (j JSON) Value() (driver.Value, error) {
	if j == nil {
		return nil, nil
	}
	return string(j), nil
}

// MarshalJSON returns the text unchanged, or null for nil.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == nil {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON stores a copy of data, or nil for the value null.
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
