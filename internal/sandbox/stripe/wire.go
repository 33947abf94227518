package stripe

// null is a field of Stripe's objects that is always null here.
type null *struct{}

// none is a field of Stripe's objects that is always an empty list here.
type none struct{}

// MarshalJSON renders the empty list.
func (none) MarshalJSON() ([]byte, error) { return []byte("[]"), nil }

// UnmarshalJSON accepts what MarshalJSON wrote.
func (*none) UnmarshalJSON([]byte) error { return nil }

// list is a page of objects, or the objects nested in another one.
type list[T any] struct {
	Object  string `json:"object"`
	URL     string `json:"url"`
	HasMore bool   `json:"has_more"`
	Data    []T    `json:"data"`
}

func newList[T any](url string, data []T) list[T] {
	if data == nil {
		data = []T{}
	}
	return list[T]{Object: "list", URL: url, Data: data}
}

// self says that the account itself, not a connected one, is meant.
type self struct {
	Type string `json:"type"`
}

// address is a postal address; any part may be unknown.
type address struct {
	City       *string `json:"city"`
	Country    *string `json:"country"`
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	PostalCode *string `json:"postal_code"`
	State      *string `json:"state"`
}

// readAddress reads the parameter address, which an empty value unsets.
func readAddress(p *params, into **address) {
	given := p.hash("address")
	if given == nil {
		if p.cleared("address") {
			*into = nil
		}
		return
	}
	a := address{}
	if *into != nil {
		a = **into
	}
	given.clearable("city", &a.City)
	given.clearable("country", &a.Country)
	given.clearable("line1", &a.Line1)
	given.clearable("line2", &a.Line2)
	given.clearable("postal_code", &a.PostalCode)
	given.clearable("state", &a.State)
	*into = &a
}
