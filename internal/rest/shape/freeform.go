package shape

import (
	"bytes"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// maxDepth bounds how deep a free-form value may be nested.
const maxDepth = 32

// checkFreeForm accepts any value that both databases can store: PostgreSQL
// refuses U+0000 and numbers with huge exponents. Its texts and keys become NFC.
func (v *validator) checkFreeForm(raw jsontext.Value, path string) jsontext.Value {
	dec, isNFC := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient), true
	for {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		switch {
		case dec.StackDepth() > maxDepth:
			return v.fail(path, "validation.depth")
		case token.Kind() == '"' && v.badCharacters(token.String(), true):
			return v.fail(path, "validation.characters")
		case token.Kind() == '0' && !storable(token.String()):
			return v.fail(path, "validation.number")
		}
		if token.Kind() == '"' {
			isNFC = isNFC && norm.NFC.IsNormalString(token.String())
		}
	}
	if isNFC && raw.IsValid() {
		return raw
	}
	return rewritten(raw)
}

// checkSize refuses an object that takes more bytes than its field may, without the spaces
// that are not kept. A nil value was refused before.
func (v *validator) checkSize(n *Rules, raw jsontext.Value, path string) jsontext.Value {
	if n.maxBytes == 0 || len(raw) <= n.maxBytes {
		return raw
	}
	compact := raw.Clone()
	if err := compact.Compact(); err != nil || len(compact) > n.maxBytes {
		return v.failWith(path, "validation.max_bytes", "max", n.maxBytes)
	}
	return raw
}

// storable reports whether every reader and database understands a number of a
// free-form value.
func storable(number string) bool {
	value, err := strconv.ParseFloat(number, 64)
	return err == nil && !math.IsInf(value, 0) && isModest([]byte(number))
}

// rewritten returns a value with its texts and keys in NFC and, of a key that occurs
// twice, the last one only. Numbers stay as they are written.
func rewritten(raw jsontext.Value) jsontext.Value {
	switch raw.Kind() {
	case '[':
		out := []byte{'['}
		children(raw, func(_ []byte, value jsontext.Value) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, rewritten(value)...)
		})
		return append(out, ']')
	case '{':
		var names []string
		members := map[string]jsontext.Value{}
		children(raw, func(key []byte, value jsontext.Value) {
			name := norm.NFC.String(string(key))
			if _, twice := members[name]; !twice {
				names = append(names, name)
			}
			members[name] = value
		})
		out := []byte{'{'}
		for _, name := range names {
			out = appendMember(out, name, rewritten(members[name]))
		}
		return append(out, '}')
	case '"':
		out, _ := jsontext.AppendQuote(nil, norm.NFC.String(string(unquote(raw))))
		return out
	default:
		return raw
	}
}
