package billing

import "errors"

// ErrNotRejected means that no rejected report has the given ID.
var ErrNotRejected = errors.New("no such rejected usage")

var (
	errNoReport     = errors.New("no report is queued")
	errChanged      = errors.New("the queued report was changed meanwhile")
	errNotLinked    = errors.New("the meter does not have a linked price in this currency")
	errReportBroken = errors.New("a queued report is invalid")
)
