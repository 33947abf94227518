package pricelist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Metadata is a free-form object as canonical JSON: keys are sorted, and numbers have neither
// exponents nor redundant zeros. Equal objects therefore have equal texts, regardless of their
// source. "" means absent.
type Metadata string

// maxMetadataDepth is the maximum nesting depth of metadata, as in the API. Both databases support
// it.
const maxMetadataDepth = 32

// metadataOf returns a database value in canonical form.
func metadataOf(column sqldb.JSON) (Metadata, error) {
	if column == nil {
		return "", nil
	}
	decoder := json.NewDecoder(bytes.NewReader(column))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	var out strings.Builder
	if err := writeJSON(&out, value); err != nil {
		return "", err
	}
	return Metadata(out.String()), nil
}

// column returns the database value.
func (m Metadata) column() sqldb.JSON {
	if m == "" {
		return nil
	}
	return sqldb.JSON(m)
}

func writeJSON(out *strings.Builder, value any) error {
	switch v := value.(type) {
	case map[string]any:
		out.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out.WriteByte(',')
			}
			writeString(out, key)
			out.WriteByte(':')
			if err := writeJSON(out, v[key]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case json.Number:
		number, err := plainNumber(v.String())
		if err != nil {
			return err
		}
		out.WriteString(number)
	case string:
		writeString(out, v)
	default: // a boolean or null
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		out.Write(text)
	}
	return nil
}

// writeString writes a JSON string without escaping <, > and &.
func writeString(out *strings.Builder, text string) {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // encoding a string cannot fail
	out.Write(bytes.TrimSuffix(quoted.Bytes(), []byte("\n")))
}

// plainNumber returns a JSON number without an exponent, as PostgreSQL writes it, and without
// redundant zeros.
func plainNumber(text string) (string, error) {
	unusable := fmt.Errorf("%.20s is out of range or too precise", text)
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if _, err := strconv.ParseFloat(text, 64); err != nil || len(exponent) > len("-308") {
		return "", unusable
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", unusable
	}
	decimals, _ := exact.FloatPrec()
	return exact.FloatString(decimals), nil
}

func (m *Metadata) readNode(r *reader, node *yaml.Node, path string) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return
	}
	if node.Kind != yaml.MappingNode {
		r.fail(path, "must be a mapping, such as {key: value}")
		return
	}
	failed := len(r.found)
	value := r.readAny(node, path, 1)
	if len(r.found) > failed {
		return
	}
	var out strings.Builder
	if err := writeJSON(&out, value); err != nil {
		r.fail(path, "%v", err)
		return
	}
	*m = Metadata(out.String())
}

// readAny reads a value of any type.
func (r *reader) readAny(node *yaml.Node, path string, depth int) any {
	switch {
	case node.Kind == yaml.AliasNode:
		r.fail(path, "is an alias, which is not supported")
	case depth > maxMetadataDepth && node.Kind != yaml.ScalarNode:
		r.fail(path, "is nested too deeply")
	case node.Kind == yaml.MappingNode:
		object := map[string]any{}
		r.members(node, path, func(key string, value *yaml.Node, path string) {
			object[norm.NFC.String(key)] = r.readAny(value, path, depth+1)
			if hasControl(key, false) {
				r.fail(path, "has a key with invalid characters")
			}
		})
		return object
	case node.Kind == yaml.SequenceNode:
		list := make([]any, len(node.Content))
		r.items(node, path, func(i int, item *yaml.Node, path string) { list[i] = r.readAny(item, path, depth+1) })
		return list
	default:
		return r.freeScalar(node, path)
	}
	return nil
}

func (r *reader) freeScalar(node *yaml.Node, path string) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(node.Value, "true")
	case "!!int", "!!float":
		if !json.Valid([]byte(node.Value)) {
			r.fail(path, "must be a number such as 25 or 0.0025, or a quoted string")
			return nil
		}
		if _, err := plainNumber(node.Value); err != nil {
			r.fail(path, "%v", err)
			return nil
		}
		return json.Number(node.Value)
	default:
		if hasControl(node.Value, true) {
			r.fail(path, "contains invalid characters")
		}
		return norm.NFC.String(node.Value)
	}
}

// MarshalYAML writes the object as a mapping.
func (m Metadata) MarshalYAML() (any, error) {
	decoder := json.NewDecoder(strings.NewReader(string(m)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return freeNode(value), nil
}

func freeNode(value any) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			node.Content = append(node.Content, textNode(key), freeNode(v[key]))
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			node.Content = append(node.Content, freeNode(item))
		}
		return node
	case string:
		return textNode(v)
	case json.Number:
		return plainNode(v.String())
	case bool:
		return plainNode(strconv.FormatBool(v))
	default:
		return plainNode("null")
	}
}
