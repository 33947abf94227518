package webhook

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
)

var (
	errNotFound  = fault.New(fault.NotFound, "error.not_found")
	errNotPublic = fault.OnField("url", "validation.public_url")
	errTooOld    = fault.OnField("since", "validation.thirty_days")

	errUnreadable = errors.New("webhook: the stored secrets cannot be read")
)

func errTooMany(most int) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "url", Message: "validation.webhooks_limit", Args: map[string]any{"max": most},
	}}}
}

// errType returns the error for an unknown type at an index of the list.
func errType(index int) error {
	known := make([]string, 0, len(hook.Types())+1)
	for _, t := range hook.Types() {
		known = append(known, string(t))
	}
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "events." + strconv.Itoa(index), Message: "validation.enum",
		Args: map[string]any{"values": strings.Join(append(known, everything), ", ")},
	}}}
}
