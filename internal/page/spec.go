package page

// How many entries a page has (spec: Other constants).
const (
	DefaultPerPage = 25
	MaxPerPage     = 100
)

// Spec declares what callers may ask of one list. Whatever it does not name is
// refused with 400. A list that is only paginated needs no more than a Tiebreak.
//
// Expressions are SQL that both databases understand; they come from the
// program, never from a caller.
type Spec struct {
	// Filters by their name in filter[<name>].
	Filters map[string]Filter
	// Params are filters by plain names: search instead of filter[search].
	Params map[string]Filter
	// Sorts maps the names that sort= takes to expressions. They must not be
	// null: the databases disagree on where nulls go.
	Sorts map[string]string
	// DefaultSort is used when the caller gives none: a name of Sorts, or several
	// with commas, each with a leading minus for descending.
	DefaultSort string
	// Tiebreak is a unique expression that makes every order total. It follows
	// the direction of the last sort.
	Tiebreak string
	// Includes are the names that include= takes. "a.b" brings "a" along.
	Includes []string
}

// Kind says how a filter compares and which values it takes.
type Kind uint8

// The kinds of filters. A value that a kind does not take is a 422 on
// filter.<name>.
const (
	Exact    Kind = iota // equal to the text
	Partial              // one of Exprs contains the text, without regard to case
	Bool                 // true, false, 1 or 0
	UUID                 // equal to the UUID
	Enum                 // equal to one of Values
	Integer              // equal to the integer
	DateFrom             // not before a datetime, or a date's first moment in UTC
	DateTo               // not after a datetime, or a date's last moment in UTC
)

// Filter is one filter of a list.
type Filter struct {
	Kind Kind
	// Exprs are what is compared; if there are several, one that matches is
	// enough.
	Exprs []string
	// Values are what an Enum takes.
	Values []string
}
