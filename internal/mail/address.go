package mail

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// ErrAddress means that the text is not an email address that the service accepts.
var ErrAddress = errors.New("not a valid email address")

// maxAddress is the maximum length of an address in bytes.
const maxAddress = 255

// NormalizeAddress returns the form in which an address is stored and compared: ASCII letters in
// lower case, and an international domain in punycode. It returns ErrAddress for non-ASCII local
// parts, quoted local parts and address literals, which are not used in practice
// (rules: account#emails).
func NormalizeAddress(text string) (string, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 1 || len(text) > 4*maxAddress || !utf8.ValidString(text) {
		return "", ErrAddress
	}
	local, domain := text[:at], text[at+1:]
	if !validLocal(local) {
		return "", ErrAddress
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil || !validDomain(ascii) {
		return "", ErrAddress
	}
	address := strings.ToLower(local) + "@" + strings.ToLower(ascii)
	if len(address) > maxAddress {
		return "", ErrAddress
	}
	return address, nil
}

// envelopeAddress converts an international domain to punycode, because not all servers support
// SMTPUTF8 (RFC 6531). It returns invalid addresses unchanged.
func envelopeAddress(address string) string {
	if ascii, ok := asciiAddress(address); ok {
		return ascii
	}
	return address
}

// CanSend reports whether all servers accept the address as a sender, which means that it has an
// ASCII form. The domain can be a single label such as localhost.
func CanSend(address string) bool {
	_, ok := asciiAddress(address)
	return ok
}

func asciiAddress(address string) (ascii string, ok bool) {
	at := strings.LastIndexByte(address, '@')
	if at < 1 || !validLocal(address[:at]) {
		return "", false
	}
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	return address[:at+1] + domain, err == nil
}

// validLocal reports whether a local part is a dot-atom (RFC 5322, section 3.2.3).
func validLocal(local string) bool {
	if len(local) > 64 || local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, "..") {
		return false
	}
	for _, c := range []byte(local) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune(".!#$%&'*+/=?^_`{|}~-", rune(c)) {
			return false
		}
	}
	return true
}

// validDomain reports whether a domain is a host name of at least two labels. The last label must
// not be numeric, as in an IP address.
func validDomain(domain string) bool {
	labels := strings.Split(domain, ".")
	if len(labels) < 2 || len(domain) > 253 || strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
			if !letter && c != '-' {
				return false
			}
		}
	}
	return true
}
