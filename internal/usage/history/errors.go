package history

import "github.com/tenantry/tenantry/internal/fault"

var (
	errNoMeter  = fault.New(fault.NotFound, "error.unknown_meter")
	errPoints   = fault.OnField("from", "validation.series_points")
	errNoPeriod = fault.OnField("from", "validation.before_to")
)
