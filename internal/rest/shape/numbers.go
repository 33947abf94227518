package shape

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

func (v *validator) checkInteger(s *Schema, raw jsontext.Value, path string) jsontext.Value {
	value, ok := wholeNumber(string(raw))
	switch {
	case raw.Kind() != '0' || !ok:
		return v.fail(path, "validation.integer")
	case s.Format == "int32" && value < math.MinInt32 && s.Minimum == nil:
		return v.failWith(path, "validation.minimum", "min", math.MinInt32)
	case s.Format == "int32" && value > math.MaxInt32 && s.Maximum == nil:
		return v.failWith(path, "validation.maximum", "max", math.MaxInt32)
	}
	if !v.inRange(s, float64(value), path) {
		return nil
	}
	out := strconv.AppendInt(nil, value, 10)
	if !s.inEnum(string(out)) {
		return v.failWith(path, "validation.enum", "values", strings.Join(s.Enum, ", "))
	}
	return out
}

// wholeNumber parses an integer in any JSON notation: 1, 1.0 and 1e0 are the same number.
func wholeNumber(text string) (int64, bool) {
	if value, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value, true
	}
	if !isBounded([]byte(text)) {
		return 0, false
	}
	rat, ok := new(big.Rat).SetString(text)
	if !ok || !rat.IsInt() || !rat.Num().IsInt64() {
		return 0, false
	}
	return rat.Num().Int64(), true
}

// isBounded reports whether a number has so few digits and so small an exponent that it is cheap to
// process and both databases can store it.
func isBounded(number []byte) bool {
	_, exponent, _ := bytes.Cut(bytes.ToLower(number), []byte{'e'})
	return len(number) <= 64 && len(exponent) <= len("-308")
}

func (v *validator) checkNumber(s *Schema, raw jsontext.Value, path string) jsontext.Value {
	value, err := strconv.ParseFloat(string(raw), 64)
	isOverflow := errors.Is(err, strconv.ErrRange) // ±Inf is outside every range
	switch {
	case raw.Kind() != '0' || err != nil && !isOverflow:
		return v.fail(path, "validation.number")
	case !v.inRange(s, value, path):
		return nil
	case s.Format == "quantity":
		quantity, err := money.ParseQuantity(string(raw))
		return v.checkExact(quantity, err, money.Decimals, money.Max.String(), path)
	case s.Format == "unit-price":
		price, err := money.ParseUnitPrice(string(raw))
		return v.checkExact(price, err, money.UnitPriceDecimals, strconv.Itoa(money.MaxUnitPrice), path)
	case isOverflow:
		return v.fail(path, "validation.number")
	}
	return raw
}

// checkExact returns an exact number in the format of package money, or reports why it is invalid.
func (v *validator) checkExact(number fmt.Stringer, err error, decimals int, most, path string) jsontext.Value {
	switch {
	case errors.Is(err, money.ErrTooPrecise):
		return v.failWith(path, "validation.decimals", "max", decimals)
	case errors.Is(err, money.ErrTooLarge):
		return v.failWith(path, "validation.maximum", "max", i18n.Digits(most))
	case err != nil:
		return v.fail(path, "validation.number")
	}
	return jsontext.Value(number.String())
}

func (v *validator) inRange(s *Schema, value float64, path string) bool {
	switch {
	case s.Minimum != nil && value < *s.Minimum:
		v.failWith(path, "validation.minimum", "min", i18n.Digits(formatBound(*s.Minimum)))
	case s.Above != nil && value <= *s.Above:
		v.failWith(path, "validation.above", "min", i18n.Digits(formatBound(*s.Above)))
	case s.Maximum != nil && value > *s.Maximum:
		v.failWith(path, "validation.maximum", "max", i18n.Digits(formatBound(*s.Maximum)))
	default:
		return true
	}
	return false
}

func formatBound(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }
