package rest

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"testing"
)

// FuzzHeads checks that the scanned heads agree with net/http. No accepted request has both
// headers, and before the last request of a connection, only requests with both headers are
// rejected.
func FuzzHeads(f *testing.F) {
	const get, chunks = "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	const post = "POST / HTTP/1.1\r\nHost: x\r\n"
	for _, seed := range []string{
		get + get, post + "Content-Length: 2\r\n\r\n{}" + get, post + chunks + get, post + "Content-Length: 4\r\n" + chunks, post + "content-length:4\n" + chunks,
		post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" + get, post + "Content-Length: 2\r\n x\r\n\r\n{}", "\r\n\r\n" + get, post + "X: y\r\n Content-Length: 1\r\n" + chunks,
		"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + get,
	} {
		f.Add([]byte(seed), 7)
	}
	f.Fuzz(func(t *testing.T, sent []byte, piece int) {
		c := &conn{}
		for part := range slices.Chunk(sent, max(1, piece%64)) { // in pieces, as they arrive
			c.scanBytes(part)
		}
		source := bytes.NewReader(sent)
		reader := bufio.NewReader(source)
		at := func() int { return len(sent) - source.Len() - reader.Buffered() }
		for {
			from := at()
			r, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			head := bytes.ToLower(sent[from:at()])
			both := len(r.TransferEncoding) > 0 && bytes.Contains(head, []byte("\ncontent-length:"))
			sound, last := c.countRequest()
			if both && sound {
				t.Fatalf("passed: %q", head)
			}
			if len(r.TransferEncoding) > 0 && !last {
				t.Fatalf("something may follow: %q", head)
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil || last {
				return
			}
		}
	})
}
