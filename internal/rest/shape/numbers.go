package shape

import (
	"bytes"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

func (v *validator) checkInteger(n *Rules, raw jsontext.Value, path string) jsontext.Value {
	value, ok := wholeNumber(string(raw))
	if raw.Kind() != '0' || !ok {
		return v.fail(path, "validation.integer")
	}
	if !v.inRange(n, float64(value), path) {
		return nil
	}
	out := strconv.AppendInt(nil, value, 10)
	if !n.inEnum(string(out)) {
		return v.failWith(path, "validation.enum", "values", strings.Join(n.enum, ", "))
	}
	return out
}

// wholeNumber reads a JSON number that is an integer, however it is written:
// 1, 1.0 and 1e0 are the same number.
func wholeNumber(text string) (int64, bool) {
	if value, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value, true
	}
	if !isModest([]byte(text)) {
		return 0, false
	}
	rat, ok := new(big.Rat).SetString(text)
	if !ok || !rat.IsInt() || !rat.Num().IsInt64() {
		return 0, false
	}
	return rat.Num().Int64(), true
}

// isModest reports whether a number has so few digits and so small an exponent
// that computing with it is cheap and both databases can store it.
func isModest(number []byte) bool {
	_, exponent, _ := bytes.Cut(bytes.ToLower(number), []byte{'e'})
	return len(number) <= 64 && len(exponent) <= len("-308")
}

func (v *validator) checkNumber(n *Rules, raw jsontext.Value, path string) jsontext.Value {
	if raw.Kind() != '0' {
		return v.fail(path, "validation.number")
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // ±Inf of a range error is out of every range
		return v.fail(path, "validation.number")
	}
	switch {
	case !v.inRange(n, value, path):
		return nil
	case n.format == "quantity":
		return v.checkQuantity(raw, path)
	case n.format == "unit-price":
		return v.checkUnitPrice(raw, path)
	case err != nil:
		return v.fail(path, "validation.number")
	}
	return raw
}

func (v *validator) inRange(n *Rules, value float64, path string) bool {
	switch {
	case n.minimum != nil && value < *n.minimum:
		v.failWith(path, "validation.minimum", "min", i18n.Digits(formatBound(*n.minimum)))
	case n.above != nil && value <= *n.above:
		v.failWith(path, "validation.above", "min", i18n.Digits(formatBound(*n.above)))
	case n.maximum != nil && value > *n.maximum:
		v.failWith(path, "validation.maximum", "max", i18n.Digits(formatBound(*n.maximum)))
	default:
		return true
	}
	return false
}

func formatBound(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }

// checkQuantity accepts a number with at most six decimals, up to 1e12.
func (v *validator) checkQuantity(raw jsontext.Value, path string) jsontext.Value {
	quantity, err := money.ParseQuantity(string(raw))
	switch {
	case errors.Is(err, money.ErrTooPrecise):
		return v.failWith(path, "validation.decimals", "max", money.Decimals)
	case errors.Is(err, money.ErrTooLarge):
		return v.failWith(path, "validation.maximum", "max", i18n.Digits(money.Max.String()))
	case err != nil:
		return v.fail(path, "validation.number")
	}
	return jsontext.Value(quantity.String())
}

// checkUnitPrice accepts a number with at most twelve decimals, from 0 to 1e12.
func (v *validator) checkUnitPrice(raw jsontext.Value, path string) jsontext.Value {
	price, err := money.ParseUnitPrice(string(raw))
	switch {
	case errors.Is(err, money.ErrTooPrecise):
		return v.failWith(path, "validation.decimals", "max", money.UnitPriceDecimals)
	case errors.Is(err, money.ErrTooLarge):
		return v.failWith(path, "validation.maximum", "max", money.MaxUnitPrice)
	case errors.Is(err, money.ErrNegative):
		return v.failWith(path, "validation.minimum", "min", 0)
	case err != nil:
		return v.fail(path, "validation.number")
	}
	return jsontext.Value(price.String())
}
