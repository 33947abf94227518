package rest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
)

// The open streams of a caller and of all callers of a tenant, in this process. A stream is an
// answer that is read from the database while it is sent, such as an export.
const (
	maxStreamsOfCaller = 4
	maxStreamsOfTenant = 16
)

var errTooManyStreams = &fault.Error{Kind: fault.TooMany, Message: "error.too_many_streams", RetryAfter: 10 * time.Second}

// streams counts open streams.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

// begin counts a stream of a caller. The caller of begin must call end once the stream has ended.
func (s *streams) begin(caller *authz.Caller) (end func(), err error) {
	if caller == nil {
		return func() {}, nil
	}
	one, all := "user:"+strconv.FormatInt(caller.UserID, 10), ""
	if caller.Key != nil {
		one = "key:" + caller.Key.ID.String()
	}
	if caller.Tenant != nil {
		all = "tenant:" + caller.Tenant.TenantID.String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[one] >= maxStreamsOfCaller || all != "" && s.open[all] >= maxStreamsOfTenant {
		return nil, errTooManyStreams
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	s.open[one]++
	if all != "" {
		s.open[all]++
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, key := range []string{one, all} {
			if s.open[key]--; s.open[key] <= 0 {
				delete(s.open, key)
			}
		}
	}, nil
}

// send returns the answer that writes a blob. A stream of unknown length counts until it ends.
func (a *API) send(ctx context.Context, b *Blob) (*written, error) {
	if b.Stream == nil || b.Length >= 0 {
		return &written{Body: b.write}, nil
	}
	end, err := a.streams.begin(authz.From(ctx))
	if err != nil {
		_ = b.Stream.Close() // It was only read.
		return nil, a.problem(ctx, err)
	}
	return &written{Body: func(ctx huma.Context) {
		defer end()
		b.write(ctx)
	}}, nil
}
