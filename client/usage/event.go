package usage

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/tenantry/tenantry/client/api"
)

// Event is a usage event of a meter.
type Event struct {
	Tenant string `json:"tenant"` // the tenant's id
	Meter  string `json:"meter"`  // the meter's code
	// Quantity is a decimal number of at most 10¹² with at most six decimals, such as "0.25". Empty
	// means 1. [Whole] formats a whole number.
	Quantity json.Number `json:"quantity,omitempty"`
	// Key is the idempotency key: events with the same key count once. [Recorder] generates a key
	// if it is empty.
	Key string `json:"key"`
	// At is the time of the usage. It determines the billing period. Zero means now.
	At time.Time `json:"at"`
	// Metadata contains custom keys and values, at most 4 KiB as JSON.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Whole formats a whole number as a quantity.
func Whole(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// ErrInvalid is wrapped by errors about events that the service would never accept.
var ErrInvalid = errors.New("usage: invalid event")

const (
	maxText     = 255  // characters of a code or key
	maxMetadata = 4096 // bytes
)

var (
	decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]{1,6}0*)?$`)
	largest = big.NewRat(1_000_000_000_000, 1)
)

// prepare returns the event with its key and time, and its size in a request in bytes.
func (e Event) prepare(now func() time.Time) (Event, int, error) {
	invalid := func(field, why string) (Event, int, error) {
		return Event{}, 0, fmt.Errorf("%w: %s %s", ErrInvalid, field, why)
	}
	if e.Quantity != "" {
		n, ok := new(big.Rat).SetString(string(e.Quantity))
		if !ok || !decimal.MatchString(string(e.Quantity)) || n.Cmp(largest) > 0 {
			return invalid("quantity", "is not a number from 0 to 10¹² with at most six decimals")
		}
	}
	switch {
	case strings.Trim(e.Tenant, ". ") == "":
		return invalid("tenant", "is empty")
	case strings.TrimSpace(e.Meter) == "":
		return invalid("meter", "is empty")
	case len([]rune(e.Meter)) > maxText:
		return invalid("meter", "has more than 255 characters")
	case len([]rune(e.Key)) > maxText:
		return invalid("key", "has more than 255 characters")
	}
	if e.Metadata != nil {
		text, err := json.Marshal(e.Metadata)
		if err != nil {
			return invalid("metadata", err.Error())
		}
		if len(text) > maxMetadata {
			return invalid("metadata", "takes more than 4 KiB")
		}
	}
	if strings.TrimSpace(e.Key) == "" {
		e.Key = rand.Text()
	}
	if e.At.IsZero() {
		e.At = now()
	}
	e.At = e.At.UTC().Truncate(time.Microsecond)
	text, err := json.Marshal(e.input())
	if err != nil {
		return invalid("event", err.Error())
	}
	return e, len(text) + 1, nil
}

// input converts the event to the API's type.
func (e Event) input() api.UsageEventInput {
	in := api.UsageEventInput{MeterCode: e.Meter, IdempotencyKey: nullable.NewNullableWithValue(e.Key), RecordedAt: &e.At}
	if e.Quantity != "" {
		in.Quantity = &e.Quantity
	}
	if e.Metadata != nil {
		in.Metadata = nullable.NewNullableWithValue(e.Metadata)
	}
	return in
}
