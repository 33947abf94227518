package rest

import "github.com/tenantry/tenantry/internal/rest/shape"

// The names under which domains still know the types of package shape.
type (
	Time        = shape.Time
	Opt[T any]  = shape.Opt[T]
	Object      = shape.Object
	Texts       = shape.Texts
	TextsChange = shape.TextsChange
	Quantity    = shape.Quantity
	UnitPrice   = shape.UnitPrice
	Each[T any] = shape.Each[T]
)

// The same for functions.
var (
	T         = shape.T
	TP        = shape.TP
	ParseID   = shape.ParseID
	IntID     = shape.IntID
	IsCountry = shape.IsCountry
)
