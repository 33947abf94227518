package pricelist

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tenantry/tenantry/internal/catalog"
)

// Text is a translatable text, by locale.
type Text catalog.Text

// YAML encodes c for Parse. Equal catalogs produce equal bytes.
func (c Catalog) YAML() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(c); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

// MarshalYAML writes a mapping by locale.
func (t Text) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, locale := range slices.Sorted(maps.Keys(t)) {
		node.Content = append(node.Content, textNode(locale), textNode(t[locale]))
	}
	return node, nil
}

// textNode returns a node for a text. The library adds quotes if the text would otherwise be read
// as another type. A multi-line text becomes a block only if its lines have no unusual whitespace,
// because the library cannot read every block that it writes.
func textNode(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	plain := !strings.ContainsAny(text, "\t\r") && !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "\n")
	for line := range strings.SplitSeq(text, "\n") {
		plain = plain && !strings.HasSuffix(line, " ")
	}
	if strings.Contains(text, "\n") && !plain {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// plainNode returns a scalar without quotes.
func plainNode(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }
