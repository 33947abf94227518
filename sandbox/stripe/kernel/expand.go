package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// maxExpand is the maximum number of properties in an expand path. The data of a list counts as a
// property.
const maxExpand = 4

// expandableType returns the type of the object whose id the field contains. It returns "" if the
// field cannot be expanded.
func expandableType(field string) string {
	switch field {
	case "customer", "product", "subscription", "invoice", "payment_intent", "charge", "payment_method", "price", "refund",
		"customer_balance_transaction":
		return field
	case "default_price":
		return "price"
	case "latest_invoice":
		return "invoice"
	case "latest_charge":
		return "charge"
	case "discounts":
		return "discount"
	case "schedule":
		return "subscription_schedule"
	case "coupon", "promotion_code":
		return field
	case "default_payment_method":
		return "payment_method"
	}
	return ""
}

// plainID reports whether the field contains an id that cannot be expanded. owner is the type of
// the object, or, for an object without a type, the field that contains it.
func plainID(owner, field string) bool {
	switch owner + "." + field {
	case "subscription_item.subscription", "line_item.invoice", "charge.payment_method",
		"price_details.product", "subscription_item_details.subscription":
		return true
	}
	return false
}

// render encodes an endpoint's result as JSON and expands the ids at the given paths.
func (e *Engine) render(ctx context.Context, q Querier, answer any, expand []string) ([]byte, error) {
	if len(expand) == 0 {
		body, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		return truncateLists(body)
	}
	m, err := tree(answer)
	if err != nil {
		return nil, err
	}
	for _, full := range expand {
		path := strings.Split(full, ".")
		if len(path) > maxExpand {
			return nil, form.MarkUnstarted(form.Refuse("expand", "", "You cannot expand more than %d levels of a property. Property: %s", maxExpand, full))
		}
		if err := e.expandIn(ctx, q, m, "", path, full); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return truncateLists(body)
}

// expandIn expands a path within a part of a response. full is the whole path, for error messages.
func (e *Engine) expandIn(ctx context.Context, q Querier, at any, owner string, path []string, full string) error {
	if len(path) == 0 {
		return nil
	}
	if elements, ok := at.([]any); ok {
		for _, element := range elements {
			if err := e.expandIn(ctx, q, element, owner, path, full); err != nil {
				return err
			}
		}
		return nil
	}
	m, ok := at.(map[string]any)
	if !ok {
		return notExpandable(full)
	}
	if name, ok := m["object"].(string); ok {
		owner = name
	}
	field, rest := path[0], path[1:]
	value, known := m[field]
	if !known {
		included, err := e.include(ctx, q, m, owner, field)
		if errors.Is(err, ErrNotFound) {
			return notExpandable(full)
		}
		if err != nil {
			return err
		}
		m[field] = included
		return e.expandIn(ctx, q, included, field, rest, full)
	}
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		kind := expandableType(field)
		if kind == "" || plainID(owner, field) {
			return notExpandable(full)
		}
		whole, err := load(ctx, q, kind, value)
		if err != nil {
			return err
		}
		m[field] = whole
		return e.expandIn(ctx, q, whole, field, rest, full)
	case map[string]any:
		if len(rest) == 0 && value["object"] == nil {
			return notExpandable(full) // a plain object, such as metadata
		}
		return e.expandIn(ctx, q, value, field, rest, full)
	case []any:
		if err := expandElements(ctx, q, value, expandableType(field)); err != nil {
			return err
		}
		return e.expandIn(ctx, q, value, field, rest, full)
	}
	return notExpandable(full)
}

// expandElements replaces the ids in a list by their objects. kind is "" if the elements are not ids.
func expandElements(ctx context.Context, q Querier, list []any, kind string) error {
	for i, element := range list {
		if id, ok := element.(string); ok && kind != "" {
			whole, err := load(ctx, q, kind, id)
			if err != nil {
				return err
			}
			list[i] = whole
		}
	}
	return nil
}

// ListReader reads a list that an object contains only when the list is expanded. id is the
// object's id.
type ListReader func(ctx context.Context, q Querier, id string) (any, error)

// include reads the list in a field of m that is returned only when it is expanded. It returns
// ErrNotFound if the field is not such a list.
func (e *Engine) include(ctx context.Context, q Querier, m map[string]any, owner, field string) (map[string]any, error) {
	read, known := e.cfg.Lists[owner+"."+field]
	if !known {
		return nil, ErrNotFound
	}
	id, _ := m["id"].(string)
	included, err := read(ctx, q, id)
	if err != nil {
		return nil, err
	}
	return tree(included)
}

// ReadList returns the objects that match a condition on doc as a list.
func ReadList[T Object](ctx context.Context, q Querier, k Kind[T], url, condition string, args ...any) (any, error) {
	found, err := k.FindWhere(ctx, q, condition, args...)
	if err != nil {
		return nil, err
	}
	return form.NewList(url, found), nil
}

// load returns the object with the id as maps and lists.
func load(ctx context.Context, q Querier, kind, id string) (map[string]any, error) {
	found, err := docs(ctx, q, `SELECT doc FROM stripe_objects WHERE kind = ? AND id = ?`, kind, id)
	if err != nil {
		return nil, fmt.Errorf("expand %s: %w", id, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("expand %s: %w", id, errors.New("the object is gone"))
	}
	return tree(json.RawMessage(found[0]))
}

// notExpandable returns the error for a path that cannot be expanded.
func notExpandable(full string) error {
	return form.MarkUnstarted(form.Refuse("expand", "", "This property cannot be expanded (%s).", full))
}
