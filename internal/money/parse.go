package money

import "math"

// ParseQuantity parses a JSON number exactly, such as 2.5, 100, 1e3 or 1.5e-2. Zeros beyond the
// sixth decimal are accepted. Negative numbers are accepted too, so callers must check the sign if
// necessary.
//
// Errors: ErrNotNumber, ErrTooPrecise, ErrTooLarge (by magnitude).
func ParseQuantity(text string) (Quantity, error) { return parse(text) }

// maxDigits is the number of digits of the largest quantity in millionths (10^18).
const maxDigits = 19

func parse[T string | []byte](text T) (Quantity, error) {
	d, ok := scan(text)
	if !ok {
		return 0, ErrNotNumber
	}
	if d.count == 0 {
		return 0, nil
	}
	shift := d.exponent + Decimals // value × 10^shift is the number in millionths
	if shift+int64(d.count) > maxDigits {
		return 0, ErrTooLarge
	}
	if shift < 0 {
		return 0, ErrTooPrecise
	}
	value := d.value
	for range shift {
		value *= 10
	}
	if value > uint64(Max) {
		return 0, ErrTooLarge
	}
	if d.negative {
		return -Quantity(value), nil
	}
	return Quantity(value), nil
}

// decimal is value × 10^exponent. value has count digits, and its first and last digits are not
// zero. It is correct only if count is at most maxDigits, which parse checks before it uses value:
// longer numbers are too large or too precise.
type decimal struct {
	negative bool
	value    uint64
	count    int
	exponent int64
}

func (d *decimal) digit(c byte, zeros *int) {
	if c == '0' {
		if d.count > 0 {
			*zeros++ // these zeros count only if another digit follows
		}
		return
	}
	for range min(*zeros, maxDigits) {
		d.value *= 10
	}
	d.count += *zeros + 1
	d.value = d.value*10 + uint64(c-'0')
	*zeros = 0
}

// scan parses a JSON number (RFC 8259, section 6). ok is false for any other text.
func scan[T string | []byte](text T) (d decimal, ok bool) {
	i, zeros := 0, 0
	if i < len(text) && text[i] == '-' {
		d.negative = true
		i++
	}
	start := i
	for ; i < len(text) && isDigit(text[i]); i++ {
		d.digit(text[i], &zeros)
	}
	if i == start || (text[start] == '0' && i-start > 1) {
		return d, false
	}
	if i < len(text) && text[i] == '.' {
		i++
		start = i
		for ; i < len(text) && isDigit(text[i]); i++ {
			d.digit(text[i], &zeros)
		}
		if i == start {
			return d, false
		}
		d.exponent = -int64(i - start)
	}
	d.exponent += int64(zeros)
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		var e int64
		if e, i, ok = scanExponent(text, i+1); !ok {
			return d, false
		}
		d.exponent += e
	}
	return d, i == len(text)
}

// scanExponent parses the exponent at i and returns its end. It caps very large exponents to avoid
// an overflow. The cap is far beyond any number of digits that fits into memory, so the result is
// out of range either way.
func scanExponent[T string | []byte](text T, i int) (exponent int64, end int, ok bool) {
	negative := false
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		negative = text[i] == '-'
		i++
	}
	start := i
	for ; i < len(text) && isDigit(text[i]); i++ {
		exponent = min(exponent*10+int64(text[i]-'0'), math.MaxInt64/100)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, i, i > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
