package page

// How many entries a page has.
const (
	DefaultPerPage = 25
	MaxPerPage     = 100
)

// Spec declares what callers may ask of one list. Anything else is refused with 400. A
// list that is only paginated needs nothing but a Tiebreak.
//
// Expressions are SQL that both databases understand. They come from the program,
// never from a caller.
type Spec struct {
	// Filters by their name in filter[<name>].
	Filters map[string]Filter
	// Params are filters by plain names: search instead of filter[search].
	Params map[string]Filter
	// Sorts maps the names that sort= takes to expressions, which must never be null:
	// the databases sort nulls differently.
	Sorts map[string]string
	// DefaultSort is the order when the caller gives none: one or more names of Sorts,
	// separated by commas, each with a leading minus for descending.
	DefaultSort string
	// Tiebreak is a unique expression that ends every order, so that no two entries
	// are equal in it. It has the direction of the last sort.
	Tiebreak string
	// Includes are the names that include= takes. "a.b" includes "a" too.
	Includes []string
	// PerPage is how many entries a page has unless the caller says; 0 means DefaultPerPage.
	PerPage int64
}

// Kind says how a filter compares and which values it takes.
type Kind uint8

// The kinds of filters. A value that a kind does not take is a 422 on
// filter.<name>.
const (
	ExactMatch   Kind = iota // equal to the text
	PartialMatch             // one of Exprs contains the text, without regard to case
	Bool                     // true, false, 1 or 0
	UUID                     // equal to the UUID
	Enum                     // equal to one of Values
	Integer                  // equal to the integer
	DateFrom                 // not before a datetime, or a date's first moment in UTC
	DateTo                   // not after a datetime, or a date's last moment in UTC
)

// Filter is one filter of a list.
type Filter struct {
	Kind Kind
	// Exprs are the expressions to compare; one that matches is enough.
	Exprs []string
	// Values are what an Enum takes.
	Values []string
}
