package money_test

import (
	"fmt"

	"github.com/tenantry/tenantry/internal/money"
)

func ExampleParseQuantity() {
	q, err := money.ParseQuantity("12.5")
	fmt.Println(q, q.Ceil(), err)
	_, err = money.ParseQuantity("0.0000001") // more than six decimals
	fmt.Println(err != nil)
	// Output:
	// 12.5 13 <nil>
	// true
}

func ExampleUnitPrice_Amount() {
	price, err := money.ParseUnitPrice("0.25") // a quarter of a cent
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(price.Amount(money.NewTotal(1_000, 0), 1), "cents")
	// Output: 250 cents
}

func ExamplePercent() {
	fmt.Println(money.Percent(money.NewTotal(80, 500_000), 100))
	// Output: 80.5
}
