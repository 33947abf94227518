package page

// Page sizes.
const (
	DefaultPerPage = 25
	MaxPerPage     = 100
)

// Spec declares the parameters that a list supports. Others are rejected with 400. A list that is
// only paginated needs only a Tiebreak.
//
// Expressions are SQL for both databases. They are constants of the program, never user input.
type Spec struct {
	// Filters by name, as filter[<name>].
	Filters map[string]Filter
	// Params are filters with plain names: search instead of filter[search].
	Params map[string]Filter
	// Sorts maps sort names to expressions, which must not be null, because the databases sort
	// nulls differently.
	Sorts map[string]string
	// DefaultSort is the default order: one or more names of Sorts, separated by commas, each with
	// a leading minus for descending order.
	DefaultSort string
	// Tiebreak is a unique expression that completes every order. It has the direction of the last
	// sort.
	Tiebreak string
	// Includes are the supported includes. "a.b" includes "a" too.
	Includes []string
	// PerPage is the default page size of the list; 0 means DefaultPerPage.
	PerPage int64
	// IsCursored means that the list has a cursor instead of page numbers. Its handler declares the
	// parameters per_page and cursor.
	IsCursored bool
}

// Kind is the comparison and the value type of a filter.
type Kind uint8

// Kinds of filters. An invalid value is a 422 error on filter.<name>.
const (
	ExactMatch   Kind = iota // equal to the text
	PartialMatch             // one of Exprs contains the text, ignoring case
	Bool                     // true, false, 1 or 0
	UUID                     // equal to the UUID
	Enum                     // equal to one of Values
	Integer                  // equal to the integer
	DateFrom                 // not before a datetime, or the start of a date in UTC
	DateTo                   // not after a datetime, or the end of a date in UTC
)

// Filter is one filter of a list.
type Filter struct {
	Kind Kind
	// Exprs are the expressions to compare. One match is enough.
	Exprs []string
	// Values are the valid values of an Enum.
	Values []string
}
