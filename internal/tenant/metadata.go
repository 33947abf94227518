package tenant

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// maxMetadata is the maximum size of a tenant's metadata as compact JSON, in bytes.
const maxMetadata = 16 << 10

// noMetadata returns the metadata of a new tenant.
func noMetadata() sqldb.JSON { return sqldb.JSON(`{}`) }

// mergeMetadata returns metadata with the changes of a request, by top-level key: null removes a
// key, and null instead of an object removes all keys. A result over maxMetadata is a validation
// error.
func mergeMetadata(old sqldb.JSON, change shape.Opt[shape.Object]) (sqldb.JSON, error) {
	switch {
	case !change.Set:
		return old, nil
	case change.Null:
		return noMetadata(), nil
	}
	merged, err := decodeMetadata(old)
	if err != nil {
		return nil, err
	}
	changed, err := decodeMetadata(sqldb.JSON(change.Value))
	if err != nil {
		return nil, err
	}
	for key, value := range changed {
		if value == nil {
			delete(merged, key)
		} else {
			merged[key] = value
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // escape sequences do not count
	if err := encoder.Encode(merged); err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	result := sqldb.JSON(bytes.TrimSpace(text.Bytes()))
	if len(result) > maxMetadata {
		return nil, &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
			Path: "metadata", Message: "validation.max_bytes", Args: map[string]any{"max": maxMetadata},
		}}}
	}
	return result, nil
}

// decodeMetadata decodes metadata with exact numbers.
func decodeMetadata(text sqldb.JSON) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	fields := map[string]any{}
	if err := decoder.Decode(&fields); err != nil {
		return nil, fmt.Errorf("decode metadata: %w", err)
	}
	return fields, nil
}
