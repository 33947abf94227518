package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/money"
)

// Page sizes.
const (
	DefaultPerPage = 25
	MaxPerPage     = 100
)

// Spec declares the parameters that a list supports. Other parameters are rejected with 400. A list
// that is only paginated needs only a Tiebreak.
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
	// SortColumns maps the names of further sorts to their columns.
	SortColumns map[string][]SortColumn
	// SortFrom maps the names of sorts to functions that return the tables that replace Select.From,
	// because they contain the sort columns. arg adds an argument and returns its placeholder.
	SortFrom map[string]func(arg func(any) string) string
	// DefaultSort is the default order: one or more names of Sorts, separated by commas, each with
	// a leading minus for descending order.
	DefaultSort string
	// Tiebreak is a unique expression that completes every order. It has the direction of the last
	// sort.
	Tiebreak string
	// Includes are the supported includes. "a.b" includes "a" too.
	Includes []string
	// CSV lists can be exported: format=csv returns all entries as a file, and bom=1 starts it with a
	// byte order mark.
	CSV bool
	// PerPage is the default page size of the list; 0 means DefaultPerPage.
	PerPage int64
	// IsCursored means that the list has a cursor instead of page numbers. Its handler declares the
	// parameters per_page and cursor.
	IsCursored bool
}

// SortColumn is one column of a sort.
type SortColumn struct {
	Expr string
	// Nullable columns sort nulls last in both directions.
	Nullable bool
	// Ascending columns ignore the direction of the sort.
	Ascending bool
	// Unindexed columns are not in the order of an index. The database sorts only their values and
	// the Tiebreak, and then reads the rows of the page.
	Unindexed bool
}

// Converted returns the column of a sort by an amount in minor units of another currency. factors has
// the factor to that currency by currency, as a decimal. Amounts in other currencies are last.
func Converted(amount, currency string, factors map[string]string) SortColumn {
	var b strings.Builder
	b.WriteString("(" + amount + " * CASE " + currency)
	for _, code := range slices.Sorted(maps.Keys(factors)) {
		b.WriteString(" WHEN '" + code + "' THEN " + factors[code])
	}
	return SortColumn{Expr: b.String() + " END)", Nullable: true}
}

// SortNames returns the names of all sorts, in alphabetical order.
func (s Spec) SortNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.Sorts)), maps.Keys(s.SortColumns))
	slices.Sort(names)
	return names
}

// columns returns the columns of a sort, or nil if the list does not have it.
func (s Spec) columns(name string) []SortColumn {
	if expr, ok := s.Sorts[name]; ok {
		return []SortColumn{{Expr: expr}}
	}
	return s.SortColumns[name]
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
	DayFrom                  // not before the start of a date
	DayTo                    // not after the end of a date
	AnyOf                    // equal to one of several texts, separated by commas; Values can limit the texts
	Prefix                   // begins with the text in any case; Exprs are in upper case and sorted by byte
	Words                    // the words of a search; Condition builds the comparison
)

// Currencies returns the filter of a list by one or more currency codes, in upper or lower case.
func Currencies(expr string) Filter {
	return Filter{Kind: AnyOf, Exprs: []string{expr}, Parse: func(text string) (code, message string) {
		code, ok := money.ParseCurrency(text)
		if !ok {
			return "", "validation.currency"
		}
		return code, ""
	}}
}

// Filter is one filter of a list.
type Filter struct {
	Kind Kind
	// Exprs are the expressions to compare. One match is enough.
	Exprs []string
	// Values are the valid values of an Enum.
	Values []string
	// Parse returns the value to compare with for a text of ExactMatch or AnyOf, or the message of an
	// invalid text. Without Parse, the value is the text.
	Parse func(text string) (value, message string)
	// Condition builds the comparison from the value, instead of Exprs. arg adds an argument and
	// returns its placeholder.
	Condition func(value any, arg func(any) string) string
}
