package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// The size limits of an entry, in bytes of JSON. A page of 100 entries, each with two sides and
// about 1 KB of other columns, stays below 1 MiB.
const (
	maxValue = 1 << 10 // of one key
	maxSide  = 4 << 10 // of all keys together
)

// digest replaces a value that is too large to store. Equal values have equal digests. The digest
// is the hash of the value's compact JSON with sorted keys, so anyone with the value can compute
// it.
type digest struct {
	Digest string `json:"digest"`
	Bytes  int    `json:"bytes"`
}

func digestOf(text sqldb.JSON) digest {
	sum := sha256.Sum256(text)
	return digest{Digest: "sha256:" + hex.EncodeToString(sum[:]), Bytes: len(text)}
}

// encodeBounded encodes one side of a change. It replaces values above maxValue with digests. While
// the side is above maxSide, it also replaces the largest remaining values. If the side is still
// too large, it returns a single digest for the whole side.
func encodeBounded(value any) (sqldb.JSON, error) {
	text, err := json.Marshal(value)
	if err != nil || len(text) <= maxValue {
		return text, err
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		return json.Marshal(digestOf(text))
	}
	kept := make(map[string]sqldb.JSON, len(object))
	size := len(`{}`)
	for key, inner := range object {
		if kept[key], err = json.Marshal(inner); err != nil {
			return nil, err
		}
		if len(kept[key]) > maxValue {
			if kept[key], err = json.Marshal(digestOf(kept[key])); err != nil {
				return nil, err
			}
		}
		size += len(key) + len(`"":,`) + len(kept[key])
	}
	for _, key := range slices.SortedFunc(maps.Keys(kept), func(a, b string) int { return len(kept[b]) - len(kept[a]) }) {
		if size <= maxSide {
			break
		}
		short, err := json.Marshal(digestOf(kept[key]))
		if err != nil {
			return nil, err
		}
		if len(short) < len(kept[key]) {
			size += len(short) - len(kept[key])
			kept[key] = short
		}
	}
	if size > maxSide {
		return json.Marshal(digestOf(text))
	}
	return json.Marshal(kept)
}
