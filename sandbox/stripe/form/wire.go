package form

// Null is the type of fields that are always null in the sandbox.
type Null *struct{}

// None is the type of fields that are always an empty list in the sandbox.
type None struct{}

// MarshalJSON writes an empty list.
func (None) MarshalJSON() ([]byte, error) { return []byte("[]"), nil }

// UnmarshalJSON ignores the value, which is an empty list.
func (*None) UnmarshalJSON([]byte) error { return nil }

// List is a page of objects, or a list nested in an object.
type List[T any] struct {
	Object  string `json:"object"`
	URL     string `json:"url"`
	HasMore bool   `json:"has_more"`
	Data    []T    `json:"data"`
}

// NewList returns data as a list without further pages.
func NewList[T any](url string, data []T) List[T] {
	if data == nil {
		data = []T{}
	}
	return List[T]{Object: "list", URL: url, Data: data}
}

// Self refers to the merchant's own account, as opposed to a connected account.
type Self struct {
	Type string `json:"type"`
}

// Address is a postal address. Unknown parts are nil.
type Address struct {
	City       *string `json:"city"`
	Country    *string `json:"country"`
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	PostalCode *string `json:"postal_code"`
	State      *string `json:"state"`
}

// ReadAddress reads the parameter address. An empty value unsets the address.
func ReadAddress(p *Params, into **Address) {
	given := p.Hash("address")
	if given == nil {
		if p.IsCleared("address") {
			*into = nil
		}
		return
	}
	a := Address{}
	if *into != nil {
		a = **into
	}
	given.ReadClearable("city", &a.City)
	given.ReadClearable("country", &a.Country)
	given.ReadClearable("line1", &a.Line1)
	given.ReadClearable("line2", &a.Line2)
	given.ReadClearable("postal_code", &a.PostalCode)
	given.ReadClearable("state", &a.State)
	*into = &a
}
