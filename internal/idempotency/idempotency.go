// Package idempotency runs a request at most once per idempotency key. It stores the responses of
// successful requests for a day and returns them to retries (rules: http#idempotency-keys).
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Lifetime is how long a key belongs to its first successful request.
const Lifetime = 24 * time.Hour

const (
	// lease is longer than a request can take, by the machine's clock. It only matters if a process
	// dies during a request.
	lease = 45 * time.Second
	// pollInterval is the interval at which a waiting request checks whether the earlier one has
	// ended.
	pollInterval = 50 * time.Millisecond
)

// errReused means that the key belongs to a request with another body (409).
var errReused = fault.NewCoded(fault.Conflict, fault.IdempotencyKeyReused)

// Request identifies a request. Body is its content in a form that is equal for equal requests.
type Request struct {
	Caller, Path, Key string
	Body              []byte
}

// id returns a hash of the caller, the path and the key, which together identify the request.
func (r Request) id() string { return hash([]byte(r.Caller + "\x00" + r.Path + "\x00" + r.Key)) }

// requestKey is the context key of the value that RequestID returns.
type requestKey struct{}

// RequestID identifies the request of ctx among all requests with an idempotency key, so that a
// service can recognize a retry after a crash. It is empty for a request without a key.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Response is a response to a request. Its body must not contain secrets, because it is stored.
type Response struct {
	Status int
	Body   []byte
}

// isSuccess reports whether the response is stored.
func (r Response) isSuccess() bool { return r.Status >= 200 && r.Status < 300 }

// Deps are the dependencies of a Service.
type Deps struct {
	DB      *sqldb.DB
	Clock   clock.Clock // decides when a key is free again
	Machine clock.Clock // the system clock, for leases
	Log     *slog.Logger
}

// Service stores the responses.
type Service struct {
	deps  Deps
	store store
}

// New returns a Service.
func New(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// entry is a stored key. Until its request has ended, the key is leased and the response is empty.
type entry struct {
	bodyHash    string
	leaseID     *uuid.UUID
	leasedUntil time.Time
	createdAt   time.Time
	response    Response
}

// Run returns the stored response of an earlier request with the same key, or else calls do. It
// stores the response of do if it is a success, so a failed request does not use up its key. If
// another body has used the key, Run returns an error (409).
//
// Invariant: of concurrent requests with one key, across all instances, only the holder of the
// lease runs; the other requests wait for its response.
func (s *Service) Run(ctx context.Context, r Request, do func(ctx context.Context) (Response, error)) (Response, error) {
	bodyHash := hash(r.Body)
	leaseID, known, err := s.claim(ctx, r.id(), bodyHash)
	switch {
	case err != nil:
		return Response{}, err
	case leaseID == uuid.Nil && known.bodyHash != bodyHash:
		return Response{}, errReused
	case leaseID == uuid.Nil:
		return known.response, nil
	}
	done := false
	ended := context.WithoutCancel(ctx) // the outcome must be stored even if the caller is gone
	defer func() {
		if done {
			return
		}
		if err := s.store.release(ended, r.id(), leaseID); err != nil {
			s.deps.Log.WarnContext(ctx, "failed to release an idempotency key", "error", err)
		}
	}()
	response, err := do(context.WithValue(ctx, requestKey{}, r.id()))
	if err != nil || !response.isSuccess() {
		return response, err
	}
	// The change was made, so the caller gets the response even if it cannot be stored.
	if err := s.store.complete(ended, r.id(), leaseID, response); err != nil {
		s.deps.Log.WarnContext(ctx, "failed to store the response of an idempotency key", "error", err)
	}
	done = true
	return response, nil
}

// claim leases a key. If a request with the key has succeeded, it returns uuid.Nil and the entry.
func (s *Service) claim(ctx context.Context, id, bodyHash string) (uuid.UUID, entry, error) {
	leaseID := sqldb.NewID()
	for {
		now, until := s.deps.Clock.Now(), s.deps.Machine.Now().Add(lease)
		inserted, err := s.store.insert(ctx, id, bodyHash, leaseID, until, now)
		if err != nil || inserted {
			return leaseID, entry{}, err
		}
		known, err := s.store.entry(ctx, id)
		if errors.Is(err, errNoEntry) { // the request with the key has failed in the meantime
			continue
		}
		if err != nil {
			return uuid.Nil, entry{}, err
		}
		isOver := known.leaseID == nil && now.Sub(known.createdAt) >= Lifetime
		isAbandoned := known.leaseID != nil && !known.leasedUntil.After(s.deps.Machine.Now())
		switch {
		case isOver || isAbandoned:
			if err := s.store.remove(ctx, id, known); err != nil {
				return uuid.Nil, entry{}, err
			}
		case known.leaseID == nil:
			return uuid.Nil, known, nil
		default:
			if err := wait(ctx, pollInterval); err != nil {
				return uuid.Nil, entry{}, err
			}
		}
	}
}

// wait waits for d, or returns the error of ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// EndLeases frees the keys of requests that a killed process was running. Call it before the first
// request, and only if no other process uses the database.
func (s *Service) EndLeases(ctx context.Context) error { return s.store.endLeases(ctx) }

// DeleteOld deletes up to limit keys that were first used between from (inclusive) and before
// (exclusive), oldest first. It returns the times of their first use.
func (s *Service) DeleteOld(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return s.store.deleteOld(ctx, from, before, limit)
}
