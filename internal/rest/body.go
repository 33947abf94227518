package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
)

// The time that a client has for a JSON body (rules: http#requests), and the time after which a
// body counts as slow.
const (
	bodyPause = 5 * time.Second // between two parts
	bodyTime  = 10 * time.Second
	slowBody  = 50 * time.Millisecond
)

// readBody returns the JSON body of a request.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	began := clock.System().Now()
	control := http.NewResponseController(w)
	data, err := io.ReadAll(http.MaxBytesReader(w, &pacedBody{r.Body, control, began.Add(bodyTime)}, maxBody))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close") // The rest of the body must not be read as a request.
		return nil, errSlowBody.Wrap(err)
	case err != nil:
		return nil, unreadable(err)
	}
	_ = control.SetReadDeadline(time.Time{}) // Otherwise the deadline would end the handler's context.
	return data, recheckAfter(r.Context(), began)
}

// recheckAfter checks the caller's rights again if the body took long: the guards ran before it,
// and a client can hold it back. A body that was there already costs no second query.
func recheckAfter(ctx context.Context, began time.Time) error {
	if clock.System().Now().Sub(began) < slowBody {
		return nil
	}
	return authz.Recheck(ctx)
}

// pacedBody is a body whose parts must arrive in time.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	end     time.Time
}

// Read reads the next part. Where the connection has no deadlines the server's own limits apply.
func (b *pacedBody) Read(into []byte) (int, error) {
	deadline := clock.System().Now().Add(bodyPause)
	if deadline.After(b.end) {
		deadline = b.end
	}
	_ = b.control.SetReadDeadline(deadline)
	return b.ReadCloser.Read(into)
}
