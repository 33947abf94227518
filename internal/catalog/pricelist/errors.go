package pricelist

import (
	"errors"
	"strconv"
	"strings"
)

// ErrCatalogChanged says that the catalog is no longer as it was when the changes were
// previewed; nothing was changed.
var ErrCatalogChanged = errors.New("the catalog was changed in the meantime, so nothing was imported: please look again")

// errPreview rolls a preview back.
var errPreview = errors.New("only a preview")

// ProblemError is one mistake in a file.
type ProblemError struct {
	Line    int    // in the file, from 1; 0 where it is not known
	Path    string // of the field, for instance products[0].plans[1].slug
	Message string
}

// Error says where the mistake is and what is wrong.
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

// RefusalError says which record of a file could not be brought into the database,
// and why.
type RefusalError struct {
	Record string // for instance "plan starter"
	Err    error
}

// Error names the record and the reason, for the log.
func (r *RefusalError) Error() string { return r.Record + ": " + r.Err.Error() }

// Unwrap returns the reason.
func (r *RefusalError) Unwrap() error { return r.Err }
