//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/tools/bench/load"
)

// request is an HTTP request without a host.
type request struct {
	method, path, token, body string
}

// bytes returns the request in wire format.
func (r request) bytes() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: tenantry-bench\r\nAccept: application/json\r\n", r.method, r.path)
	if r.token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", r.token)
	}
	if r.body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(r.body))
	}
	b.WriteString("\r\n" + r.body)
	return []byte(b.String())
}

// repeatingCaller returns a caller that repeats one request.
func repeatingCaller(r request) load.Caller {
	text := r.bytes()
	return load.Caller{Next: func() []byte { return text }}
}

// placeholder is replaced in a body by a unique number.
const placeholder = "0000000000000000"

// numberedCaller returns a caller that repeats a request with new numbers for its placeholders.
// Each caller needs its own series, because the numbers of a series start at the same value.
func numberedCaller(r request, series int) load.Caller {
	text := r.bytes()
	var places []int
	for i := 0; ; i += len(placeholder) {
		at := strings.Index(string(text[i:]), placeholder)
		if at < 0 {
			break
		}
		i += at
		places = append(places, i)
	}
	n := uint64(series) * 1e10
	return load.Caller{Next: func() []byte {
		for _, at := range places {
			n++
			digits := strconv.AppendUint(text[at:at], n, 10) // in place, from the left
			for i := len(digits); i < len(placeholder); i++ {
				text[at+i] = '-'
			}
		}
		return text
	}}
}

// withNewNumbers returns r with unused numbers for its placeholders.
func withNewNumbers(r request, series int) request {
	_, r.body, _ = strings.Cut(string(numberedCaller(r, series).Next()), "\r\n\r\n")
	return r
}

// do sends the request and returns the status and body of the response.
func (r request) do(ctx context.Context, address netip.AddrPort) (status int, body []byte, err error) {
	resp, err := r.send(ctx, address)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, errors.Join(err, resp.Body.Close())
}

// send sends the request and returns the response after its header has arrived. The caller closes
// its body.
func (r request) send(ctx context.Context, address netip.AddrPort) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, "http://"+address.String()+r.path, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return http.DefaultClient.Do(req)
}
