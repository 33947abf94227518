package fault_test

import (
	"errors"
	"fmt"

	"github.com/tenantry/tenantry/internal/fault"
)

var errTaken = fault.NewCoded(fault.Conflict, fault.SubscriptionBusy)

// A package declares its errors once. Copies with more keys or a cause still match.
func ExampleNewCoded() {
	err := fmt.Errorf("cancel: %w", errTaken.With("retry_in", 20).Wrap(errors.New("locked")))
	fmt.Println(errors.Is(err, errTaken))
	// Output: true
}

func ExampleFields() {
	var broken fault.Fields
	broken.Add("name", "validation.required")
	broken.Add("prices.0.currency", "validation.currency")
	var refused *fault.Error
	if errors.As(broken.Err(), &refused) {
		for _, f := range refused.Fields {
			fmt.Println(f.Path, f.Message)
		}
	}
	// Output:
	// name validation.required
	// prices.0.currency validation.currency
}
