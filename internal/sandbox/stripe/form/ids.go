package form

import "crypto/rand"

const Alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewID returns an unguessable id with Stripe's prefix for the kind of object.
func NewID(prefix string) string {
	if prefix == "cs" {
		// The id of a checkout session alone opens its page, so it is longer.
		return "cs_test_" + RandomText(58, Alphanumeric)
	}
	return prefix + "_" + RandomText(24, Alphanumeric)
}

// NewInvoicePrefix returns the start of all invoice numbers of one customer.
func NewInvoicePrefix() string { return RandomText(8, Alphanumeric[:36]) }

// RandomText draws n characters evenly from an alphabet of at most 256.
func RandomText(n int, alphabet string) string {
	text := make([]byte, 0, n)
	fair := 256 - 256%len(alphabet) // bytes from here on would favour the first letters
	buf := make([]byte, n)
	for len(text) < n {
		_, _ = rand.Read(buf) // never fails: crypto/rand aborts the program instead
		for _, b := range buf {
			if int(b) < fair && len(text) < n {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}
