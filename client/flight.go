package client

import (
	"context"
	"time"
)

// flight is a request in progress. Any number of goroutines can wait for it. It continues when their
// contexts end, until its timeout.
type flight[T any] struct {
	done  chan struct{} // closed once the fields below are set
	value T
	err   error
}

// startFlight starts load in a goroutine. It calls land with the result before the waiting
// goroutines continue.
func startFlight[T any](ctx context.Context, timeout time.Duration, load func(context.Context) (T, error), land func(T, error)) *flight[T] {
	f := &flight[T]{done: make(chan struct{})}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		f.value, f.err = load(ctx)
		land(f.value, f.err)
		close(f.done)
	}()
	return f
}

// wait returns the result of the request, or the error of ctx once it has ended.
func (f *flight[T]) wait(ctx context.Context) (value T, err error) {
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}
