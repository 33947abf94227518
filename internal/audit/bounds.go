package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// How large what an entry keeps may be, in bytes of JSON. A page has a hundred entries of
// two sides and about a kilobyte of other columns: it stays below a mebibyte.
const (
	maxValue = 1 << 10 // of one key
	maxSide  = 4 << 10 // of all keys together
)

// digest stands for a value that is too large to be kept. Two equal values have equal
// digests, and whoever has the value can compute it: it is that of its compact JSON with
// sorted keys.
type digest struct {
	Digest string `json:"digest"`
	Bytes  int    `json:"bytes"`
}

func digestOf(text sqldb.JSON) digest {
	sum := sha256.Sum256(text)
	return digest{Digest: "sha256:" + hex.EncodeToString(sum[:]), Bytes: len(text)}
}

// encodeBounded encodes one side of a change: values above maxValue as their digests, and then,
// while the side is above maxSide, the largest of the others too. What is too large with
// digests alone is one digest.
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
