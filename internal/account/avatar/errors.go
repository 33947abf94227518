package avatar

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errNotFound   = fault.New(fault.NotFound, "error.not_found")
	errNotPicture = fault.OnField("avatar", "validation.image")
	errTooCostly  = fault.OnField("avatar", "validation.image_cost")
	errBusy       = fault.New(fault.Unavailable, "error.unavailable")

	// errNoUser means that the user does not exist.
	errNoUser = errors.New("the user does not exist")
)

func errTooManyPixels() error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "avatar", Message: "validation.image_size", Args: map[string]any{"max": maxPictureSide},
	}}}
}
