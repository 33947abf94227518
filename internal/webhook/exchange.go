package webhook

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxExchanges is the number of attempts per delivery whose requests and responses are stored.
	maxExchanges = 10
	// maxStoredBody and maxStoredHeaders limit the stored part of a response, in bytes.
	maxStoredBody    = 16 << 10
	maxStoredHeaders = 8 << 10
)

// exchange is the request of an attempt with its response. The body of the request is the body of
// the event.
type exchange struct {
	number         int // of the attempt
	url            string
	requestHeaders map[string]string
	response       *response // nil if no response was received or stored
}

// response is the stored part of a response.
type response struct {
	headers     map[string]string
	body        []byte
	isTruncated bool
}

// requestHeaders returns the headers of a request under their names in lower case.
func requestHeaders(h http.Header) map[string]string {
	headers := make(map[string]string, len(h))
	for name, values := range h {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return headers
}

// readResponse reads the part of a response that is stored. Headers that do not fit are left out.
// Headers with credentials are never stored.
func readResponse(answer *http.Response) *response {
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxStoredBody+1))
	r := &response{
		headers: map[string]string{}, body: body[:min(len(body), maxStoredBody)],
		isTruncated: err != nil || len(body) > maxStoredBody,
	}
	left := maxStoredHeaders
	for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
		if name == "Set-Cookie" || name == "Authorization" {
			continue
		}
		value := strings.Join(answer.Header[name], ", ")
		if size := len(name) + len(value); size <= left {
			left -= size
			r.headers[strings.ToLower(name)] = validText([]byte(value))
		} else {
			r.isTruncated = true
		}
	}
	return r
}

// text returns the body as text. A character that the truncation has split is left out.
func (r *response) text() string {
	body := r.body
	if r.isTruncated {
		body = trimPartialRune(body)
	}
	return validText(body)
}

// validText replaces each byte that is not part of a UTF-8 character.
func validText(text []byte) string { return string([]rune(string(text))) }

// trimPartialRune removes the beginning of a UTF-8 character at the end of a text.
func trimPartialRune(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
