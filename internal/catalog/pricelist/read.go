package pricelist

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/money"
)

// lines maps the path of a field to its line in the file.
type lines map[string]int

// lineOf returns the line of a field. For a missing field, it returns the line of the record that
// lacks the field.
func (l lines) lineOf(path string) int {
	for path != "" {
		if line, ok := l[path]; ok {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return l[""]
}

// problems collects problems, so that they can be reported together.
type problems struct {
	lines lines
	found []*ProblemError
}

func (p *problems) fail(path, format string, args ...any) {
	p.found = append(p.found, &ProblemError{Line: p.lines.lineOf(path), Path: path, Message: fmt.Sprintf(format, args...)})
}

// Problem returns a ProblemError for a problem that another package found in the field at path.
func (c Catalog) Problem(path, message string) error {
	return &ProblemError{Line: c.lines.lineOf(path), Path: path, Message: message}
}

// err joins the problems in the order of the file. It returns nil if there are no problems.
func (p *problems) err() error {
	slices.SortStableFunc(p.found, func(a, b *ProblemError) int { return cmp.Compare(a.Line, b.Line) })
	errs := make([]error, len(p.found))
	for i, problem := range p.found {
		errs[i] = problem
	}
	return errors.Join(errs...)
}

// Parse reads and checks a catalog in YAML. Unknown and repeated keys are errors, as are violations
// of the catalog rules. The error joins all problems, each as a *ProblemError.
func Parse(text []byte) (Catalog, error) {
	document, err := parseYAML(text)
	if err != nil {
		return Catalog{}, err
	}
	var c Catalog
	r := reader{problems{lines: lines{"": 1}}}
	r.readNode(document, reflect.ValueOf(&c).Elem(), "")
	c.upperCodes(&r.problems)
	if err := r.err(); err != nil {
		return Catalog{}, err
	}
	c.lines = r.lines
	return c, c.Check()
}

// upperCodes converts the currency codes to upper case.
func (c *Catalog) upperCodes(p *problems) {
	for i := range c.Currencies {
		c.Currencies[i].Code = upperCode(c.Currencies[i].Code)
	}
	for i := range c.Products {
		for j := range c.Products[i].Plans {
			plan := &c.Products[i].Plans[j]
			plan.Prices = upperKeys(p, fmt.Sprintf("products[%d].plans[%d].prices", i, j), plan.Prices)
		}
	}
	for i := range c.Packs {
		c.Packs[i].Prices = upperKeys(p, fmt.Sprintf("packs[%d].prices", i), c.Packs[i].Prices)
	}
	for i := range c.Meters {
		c.Meters[i].Prices = upperKeys(p, fmt.Sprintf("meters[%d].prices", i), c.Meters[i].Prices)
	}
}

func upperCode(code string) string {
	if upper, ok := money.ParseCurrency(code); ok {
		return upper
	}
	return code
}

func upperKeys[V any](p *problems, path string, prices map[string]V) map[string]V {
	if prices == nil {
		return nil
	}
	upper := make(map[string]V, len(prices))
	for _, code := range slices.Sorted(maps.Keys(prices)) {
		key := upperCode(code)
		if _, twice := upper[key]; twice {
			p.fail(path+"."+code, "is the second price in %s", key)
		}
		upper[key] = prices[code]
		p.lines[path+"."+key] = p.lines.lineOf(path + "." + code)
	}
	return upper
}

// parseYAML returns the single document of a file.
func parseYAML(text []byte) (*yaml.Node, error) {
	var document, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, &ProblemError{Message: "the file is empty"}
	case err != nil:
		return nil, &ProblemError{Message: strings.TrimPrefix(err.Error(), "yaml: ")} // the text of err has the line
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, &ProblemError{Line: second.Line, Message: "must contain one document"}
	}
	return document.Content[0], nil
}

// reader decodes YAML strictly. The library's decoder would truncate a price of 19.90 to 19, and
// its errors do not name the field.
type reader struct{ problems }

// readable is a type with its own representation in a file.
type readable interface {
	readNode(r *reader, node *yaml.Node, path string)
}

// readNode decodes a node into target, which must be zero.
func (r *reader) readNode(node *yaml.Node, target reflect.Value, path string) {
	if node.Kind == yaml.AliasNode {
		r.fail(path, "is an alias, which is not supported")
		return
	}
	if own, ok := target.Addr().Interface().(readable); ok {
		own.readNode(r, node, path)
		return
	}
	null := node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
	switch target.Kind() {
	case reflect.Pointer:
		if !null {
			target.Set(reflect.New(target.Type().Elem()))
			r.readNode(node, target.Elem(), path)
		}
	case reflect.Slice:
		if !null {
			r.readList(node, target, path)
		}
	case reflect.Map:
		if !null {
			r.readMap(node, target, path)
		}
	case reflect.Struct:
		r.readStruct(node, target, path)
	default:
		r.readScalar(node, target, path)
	}
}

func (r *reader) readList(node *yaml.Node, target reflect.Value, path string) {
	if node.Kind != yaml.SequenceNode {
		r.fail(path, "must be a list")
		return
	}
	target.Set(reflect.MakeSlice(target.Type(), len(node.Content), len(node.Content)))
	r.items(node, path, func(i int, item *yaml.Node, path string) { r.readNode(item, target.Index(i), path) })
}

func (r *reader) readMap(node *yaml.Node, target reflect.Value, path string) {
	target.Set(reflect.MakeMap(target.Type()))
	r.members(node, path, func(key string, value *yaml.Node, path string) {
		member := reflect.New(target.Type().Elem()).Elem()
		r.readNode(value, member, path)
		target.SetMapIndex(reflect.ValueOf(key), member)
	})
}

func (r *reader) readStruct(node *yaml.Node, target reflect.Value, path string) {
	fields := map[string]reflect.Value{}
	for i := range target.NumField() {
		if name, _, _ := strings.Cut(target.Type().Field(i).Tag.Get("yaml"), ","); name != "" {
			fields[name] = target.Field(i)
		}
	}
	r.members(node, path, func(key string, value *yaml.Node, path string) {
		if field, known := fields[key]; known {
			r.readNode(value, field, path)
		} else {
			r.fail(path, "is not a known key")
		}
	})
}

// items calls f with each item of a list and its path.
func (r *reader) items(node *yaml.Node, path string, f func(i int, item *yaml.Node, path string)) {
	for i, item := range node.Content {
		path := fmt.Sprintf("%s[%d]", path, i)
		r.lines[path] = item.Line
		f(i, item, path)
	}
}

// members calls f with each member of a mapping and its path. A repeated key is an error.
func (r *reader) members(node *yaml.Node, path string, f func(key string, value *yaml.Node, path string)) {
	if node.Kind != yaml.MappingNode {
		r.fail(path, "must be a mapping, such as {key: value}")
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			r.fail(path, "has a key that is not a string")
			continue
		}
		path := strings.TrimPrefix(path+"."+key.Value, ".")
		r.lines[path] = key.Line
		if seen[key.Value] {
			r.fail(path, "appears twice")
			continue
		}
		seen[key.Value] = true
		f(key.Value, value, path)
	}
}

func (r *reader) readScalar(node *yaml.Node, target reflect.Value, path string) {
	if node.Kind != yaml.ScalarNode || node.ShortTag() == "!!null" {
		r.fail(path, "must have a value")
		return
	}
	switch target.Kind() {
	case reflect.String: // a slug can look like a number
		target.SetString(norm.NFC.String(node.Value))
	case reflect.Bool:
		if node.ShortTag() != "!!bool" {
			r.fail(path, "must be true or false")
			return
		}
		target.SetBool(strings.EqualFold(node.Value, "true"))
	default:
		whole, err := strconv.ParseInt(node.Value, 10, target.Type().Bits())
		if node.ShortTag() != "!!int" || err != nil {
			r.fail(path, "must be a whole number in the supported range")
			return
		}
		target.SetInt(whole)
	}
}
