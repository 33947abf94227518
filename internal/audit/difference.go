package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// removed replaces a value that must not be stored.
const removed = "[removed]"

// secretWords is a second line of defence: a value whose key contains one of these words
// is never stored, however deep it is nested. The first is not to record secrets.
var secretWords = []string{"password", "token", "hash", "secret", "credential", "authorization", "cookie", "apikey", "privatekey"}

// difference encodes both sides of a change without secrets, in bounded size and, where
// both are objects, without the keys whose values are the same in both.
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

// toPlainJSON returns what the JSON of a value decodes to: objects become maps.
func toPlainJSON(value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // a float would round long integers
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

// redactSecrets returns value with everything under a secret key replaced.
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

// isSecret reports whether a key contains a secret word. It ignores case, dashes,
// underscores and spaces, because keys may come from a caller, as in a tenant's
// settings.
func isSecret(key string) bool {
	key = strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key))
	for _, word := range secretWords {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}
