package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// removed replaces redacted values.
const removed = "[removed]"

// secretWords is a second line of defense, in case a caller records a secret. A value whose key
// contains one of these words is never stored, at any nesting depth.
var secretWords = []string{"password", "token", "hash", "secret", "credential", "authorization", "cookie", "apikey", "privatekey"}

// difference encodes both sides of a change, without secrets and bounded in size. If both are
// objects, it omits the keys whose values are equal.
func difference(before, after any) (from, to sqldb.JSON, err error) {
	old, err := toPlainJSON(before)
	if err != nil {
		return nil, nil, err
	}
	changed, err := toPlainJSON(after)
	if err != nil {
		return nil, nil, err
	}
	left, isObject := old.(map[string]any)
	right, areObjects := changed.(map[string]any)
	if isObject && areObjects {
		for key, value := range left {
			if other, both := right[key]; both && reflect.DeepEqual(value, other) {
				delete(left, key)
				delete(right, key)
			}
		}
	}
	if from, err = encode(old); err != nil {
		return nil, nil, err
	}
	to, err = encode(changed)
	return from, to, err
}

// toPlainJSON encodes value as JSON and decodes it again, which turns structs into maps.
func toPlainJSON(value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // a float64 would round large integers
	var v any
	err = dec.Decode(&v)
	return v, err
}

func encode(value any) (sqldb.JSON, error) {
	if value == nil {
		return nil, nil
	}
	return encodeBounded(redactSecrets(value))
}

// redactSecrets replaces all values under secret keys. It modifies value in place.
func redactSecrets(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if isSecret(key) {
				v[key] = removed
			} else {
				v[key] = redactSecrets(inner)
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = redactSecrets(inner)
		}
	}
	return value
}

// isSecret reports whether a key contains a secret word. It ignores case, dashes, underscores and
// spaces, because clients choose some keys, for example in the settings of a tenant.
func isSecret(key string) bool {
	key = strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key))
	for _, word := range secretWords {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}
