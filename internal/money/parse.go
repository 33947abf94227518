package money

import "math"

// ParseQuantity reads a JSON number exactly: 2.5, 100, 1e3, 1.5e-2. Zeros beyond the
// sixth decimal are accepted. So are negative numbers: callers that allow none must
// check that themselves.
//
// Errors: ErrNotNumber, ErrTooPrecise, ErrTooLarge (by magnitude).
func ParseQuantity(text string) (Quantity, error) { return parse(text) }

// maxDigits is how many digits the largest quantity has in millionths (10^18).
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

// decimal is value × 10^exponent. value has count digits, of which the first and the
// last are not zero. It is only correct while count is at most maxDigits, which parse
// checks before it uses value: a longer number is too large or too precise.
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

// scan reads a JSON number (RFC 8259, section 6); ok is false for any other text.
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

// scanExponent reads the exponent that begins at i and returns where it ends. A very
// large exponent is cut to a limit, so that it cannot overflow. The limit is far beyond
// any number of digits that fits in memory, so the result is out of range either way.
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
