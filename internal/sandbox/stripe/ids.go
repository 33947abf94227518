package stripe

import "crypto/rand"

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID returns an unguessable id with Stripe's prefix for the kind of object.
func newID(prefix string) string {
	if prefix == "cs" {
		// The id of a checkout session alone opens its page, so it is longer.
		return "cs_test_" + randomText(58, idAlphabet)
	}
	return prefix + "_" + randomText(24, idAlphabet)
}

// newInvoicePrefix returns the start of all invoice numbers of one customer.
func newInvoicePrefix() string { return randomText(8, idAlphabet[:36]) }

// randomText draws n characters evenly from an alphabet of at most 256.
func randomText(n int, alphabet string) string {
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
