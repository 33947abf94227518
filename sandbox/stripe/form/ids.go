package form

import "crypto/rand"

// Alphanumeric is the alphabet of ids. The first ten characters are the digits; the first 36 are
// the digits and the upper-case letters.
const Alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewID returns an unguessable id with Stripe's prefix for the type of object.
func NewID(prefix string) string {
	if prefix == "cs" {
		// Anyone with the id of a checkout session can open its page, so the id is longer.
		return "cs_test_" + RandomText(58, Alphanumeric)
	}
	return prefix + "_" + RandomText(24, Alphanumeric)
}

// NewInvoicePrefix returns the prefix of a customer's invoice numbers.
func NewInvoicePrefix() string { return RandomText(8, Alphanumeric[:36]) }

// RandomText returns n random characters of an alphabet of at most 256 characters. All characters
// are equally likely.
func RandomText(n int, alphabet string) string {
	text := make([]byte, 0, n)
	fair := 256 - 256%len(alphabet) // higher bytes would favour the first characters
	buf := make([]byte, n)
	for len(text) < n {
		_, _ = rand.Read(buf) // rand.Read never fails; it crashes the program instead
		for _, b := range buf {
			if int(b) < fair && len(text) < n {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}
