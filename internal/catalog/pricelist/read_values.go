package pricelist

import (
	"errors"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/tenantry/tenantry/internal/money"
)

// readNode reads true or an integer.
func (g *Grant) readNode(r *reader, node *yaml.Node, path string) {
	switch {
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!int":
		g.Quota = new(int64)
		r.readScalar(node, reflect.ValueOf(g.Quota).Elem(), path)
	case node.Kind != yaml.ScalarNode || node.ShortTag() != "!!bool" || node.Value != "true":
		r.fail(path, "must be true or a whole number")
	}
}

// MarshalYAML writes the form that readNode accepts.
func (g Grant) MarshalYAML() (any, error) {
	if g.Quota == nil {
		return true, nil
	}
	return *g.Quota, nil
}

// linkedPrice is the long form of a plan's price.
type linkedPrice struct {
	PriceCents *int64 `yaml:"price_cents"`
	Link       Link   `yaml:"psp_price_id"`
}

func (p *PriceData) readNode(r *reader, node *yaml.Node, path string) {
	if node.Kind != yaml.MappingNode {
		r.readScalar(node, reflect.ValueOf(&p.PriceCents).Elem(), path)
		return
	}
	var long linkedPrice
	r.readStruct(node, reflect.ValueOf(&long).Elem(), path)
	if long.PriceCents == nil {
		r.fail(path+".price_cents", "is required")
		return
	}
	p.PriceCents, p.Link = *long.PriceCents, long.Link
}

// MarshalYAML writes the short form unless the price is linked.
func (p PriceData) MarshalYAML() (any, error) {
	if !p.Link.Given {
		return p.PriceCents, nil
	}
	return linkedPrice{&p.PriceCents, p.Link}, nil
}

// linkedUnitPrice is the long form of a meter's price.
type linkedUnitPrice struct {
	UnitPriceCents *unitPrice `yaml:"unit_price_cents"`
	Link           Link       `yaml:"psp_price_id"`
}

func (p *UnitPriceData) readNode(r *reader, node *yaml.Node, path string) {
	if node.Kind != yaml.MappingNode {
		(*unitPrice)(&p.UnitPrice).readNode(r, node, path)
		return
	}
	var long linkedUnitPrice
	r.readStruct(node, reflect.ValueOf(&long).Elem(), path)
	if long.UnitPriceCents == nil {
		r.fail(path+".unit_price_cents", "is required")
		return
	}
	p.UnitPrice, p.Link = money.UnitPrice(*long.UnitPriceCents), long.Link
}

// MarshalYAML writes the short form unless the price is linked.
func (p UnitPriceData) MarshalYAML() (any, error) {
	price := unitPrice(p.UnitPrice)
	if !p.Link.Given {
		return price, nil
	}
	return linkedUnitPrice{&price, p.Link}, nil
}

// unitPrice is a unit price that is read and written as text, never as a float.
type unitPrice money.UnitPrice

func (p *unitPrice) readNode(r *reader, node *yaml.Node, path string) {
	tag := node.ShortTag()
	if node.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
		r.fail(path, "must be a number")
		return
	}
	price, err := money.ParseUnitPrice(node.Value)
	switch {
	case errors.Is(err, money.ErrNegative):
		r.fail(path, "must not be negative")
	case errors.Is(err, money.ErrTooPrecise):
		r.fail(path, "must have at most %d decimals", money.UnitPriceDecimals)
	case errors.Is(err, money.ErrTooLarge):
		r.fail(path, "must be at most %d", money.MaxUnitPrice)
	case err != nil:
		r.fail(path, "must be a number such as 25 or 0.0025")
	}
	*p = unitPrice(price)
}

// MarshalYAML writes the number in its shortest form.
func (p unitPrice) MarshalYAML() (any, error) { return plainNode(money.UnitPrice(p).String()), nil }

// readNode reads an ID, or null to unlink.
func (l *Link) readNode(r *reader, node *yaml.Node, path string) {
	l.Given = true
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return
	}
	l.PSPPriceID = new(string)
	r.readScalar(node, reflect.ValueOf(l.PSPPriceID).Elem(), path)
}

// MarshalYAML writes the form that readNode accepts.
func (l Link) MarshalYAML() (any, error) { return l.PSPPriceID, nil }

// quantity is a number of units that is read and written as text, never as a float.
type quantity money.Quantity

func (q *quantity) readNode(r *reader, node *yaml.Node, path string) {
	tag := node.ShortTag()
	if node.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
		r.fail(path, "must be a number")
		return
	}
	units, err := money.ParseQuantity(node.Value)
	switch {
	case errors.Is(err, money.ErrTooPrecise):
		r.fail(path, "must have at most %d decimals", money.Decimals)
	case errors.Is(err, money.ErrTooLarge):
		r.fail(path, "must be at most %s", money.Max)
	case err != nil:
		r.fail(path, "must be a number such as 1000 or 2.5")
	}
	*q = quantity(units)
}

// MarshalYAML writes the number in its shortest form.
func (q quantity) MarshalYAML() (any, error) { return plainNode(money.Quantity(q).String()), nil }
