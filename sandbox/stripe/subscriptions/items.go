package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// listItems handles GET /v1/subscription_items. A subscription itself contains only its first ten
// items.
func listItems(ctx context.Context, c *kernel.Call) (any, error) {
	var id string
	c.Params.Require("subscription")
	c.Params.Text("subscription", &id)
	if c.Params.HasFailed() {
		return nil, c.Params.CheckUnread()
	}
	sub, err := All.Get(ctx, c.Q, id, "subscription")
	if err != nil {
		return nil, err
	}
	return kernel.SlicePage(c, itemKind.Path, itemKind.Label, sub.Items.Data)
}

// getItem handles GET /v1/subscription_items/{id}.
func getItem(ctx context.Context, c *kernel.Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	subs, err := All.FindWhere(ctx, c.Q, `EXISTS (SELECT 1 FROM json_each(doc, '$.items.data') WHERE value ->> '$.id' = ?)`, c.ID)
	if err != nil {
		return nil, err
	}
	for _, sub := range subs {
		if item := sub.item(c.ID); item != nil {
			return *item, nil
		}
	}
	return nil, form.NewMissing(itemKind.Label, c.ID, "id")
}
