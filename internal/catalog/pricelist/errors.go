package pricelist

import (
	"errors"
	"strconv"
	"strings"
)

// ErrCatalogChanged means that the catalog has changed since the preview. The import is rolled
// back.
var ErrCatalogChanged = errors.New("the catalog was changed in the meantime: nothing was imported; run the command again")

// errPreview rolls back the transaction of a preview.
var errPreview = errors.New("only a preview")

// ProblemError is a single problem in a file.
type ProblemError struct {
	Line    int    // line in the file, from 1; 0 if unknown
	Path    string // path of the field, such as products[0].plans[1].slug
	Message string
}

// Error returns the location and the problem.
func (p *ProblemError) Error() string {
	var where []string
	if p.Line > 0 {
		where = append(where, "line "+strconv.Itoa(p.Line)+":")
	}
	if p.Path != "" {
		where = append(where, p.Path)
	}
	return strings.Join(append(where, p.Message), " ")
}

// RefusalError means that a record of a file could not be applied to the database.
type RefusalError struct {
	Record string // such as "plan starter"
	Err    error
}

// Error returns the record and the reason, for the log.
func (r *RefusalError) Error() string { return r.Record + ": " + r.Err.Error() }

// Unwrap returns the reason.
func (r *RefusalError) Unwrap() error { return r.Err }
