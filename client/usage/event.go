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

// Event is a use of a meter.
type Event struct {
	Tenant string `json:"tenant"` // the tenant's id
	Meter  string `json:"meter"`  // the meter's code
	// Quantity is a decimal number of at most 10¹² with at most six decimals, such as "0.25";
	// empty for 1. [Whole] writes a whole number.
	Quantity json.Number `json:"quantity,omitempty"`
	// Key is the same when the same event is recorded again, so that it counts once. [Recorder]
	// draws one where it is empty.
	Key string `json:"key"`
	// At is when it happened, which decides the period that it counts in; zero for now.
	At time.Time `json:"at"`
	// Metadata are keys and values of your own, at most 4 KiB as JSON.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Whole is a whole number as a quantity.
func Whole(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// ErrInvalid is in each error about an event that the service would never take.
var ErrInvalid = errors.New("usage: invalid event")

const (
	maxText     = 255  // characters of a code and a key
	maxMetadata = 4096 // bytes
)

var (
	decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]{1,6}0*)?$`)
	largest = big.NewRat(1_000_000_000_000, 1)
)

// prepared returns the event with its key and time, and with the bytes that it takes in a request.
func (e Event) prepared(now func() time.Time) (Event, int, error) {
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

// input is the event as the API takes it.
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
