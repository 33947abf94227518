package kernel

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// idempotencyLife is how long the response to a request with a key is stored. It uses the real
// clock: moving the sandbox's clock must not let a retry take effect twice.
const idempotencyLife = 24 * time.Hour

// idempotent identifies a request that carries an Idempotency-Key.
type idempotent struct {
	key, endpoint, fingerprint string
}

// newIdempotent returns the identity of a request. endpoint is its method and path.
func newIdempotent(key, endpoint string, values url.Values) (idempotent, error) {
	if len(key) > 255 {
		return idempotent{}, form.MarkUnstarted(form.Refuse("", "", "Idempotency keys can be at most 255 characters."))
	}
	sum := sha256.Sum256([]byte(values.Encode())) // Encode sorts by name
	return idempotent{key: key, endpoint: endpoint, fingerprint: hex.EncodeToString(sum[:])}, nil
}

// loadAnswer returns the stored response to an earlier request with the same key. It returns
// ErrNotFound if the key is new. Two concurrent requests cannot both find the key new, because each
// request looks it up in its own write transaction.
func (i idempotent) loadAnswer(ctx context.Context, st *Step) (answer, error) {
	var stored idempotent
	a := answer{replayed: true}
	err := st.Q.QueryRowContext(ctx, `
		SELECT endpoint, fingerprint, status, body FROM stripe_idempotency
		WHERE key = ? AND stored_at >= ?`, i.key, st.realNow-idempotencyLife.Milliseconds()).
		Scan(&stored.endpoint, &stored.fingerprint, &a.status, &a.body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return answer{}, ErrNotFound
	case err != nil:
		return answer{}, fmt.Errorf("recall idempotency key: %w", err)
	case stored.endpoint != i.endpoint:
		return answer{}, form.IdempotencyConflict("Keys for idempotent requests can only be used for the same endpoint they were first used for ('%s' vs '%s'). Try using a key other than '%s' if you meant to execute a different request.", i.endpoint, stored.endpoint, i.key)
	case stored.fingerprint != i.fingerprint:
		return answer{}, form.IdempotencyConflict("Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '%s' if you meant to execute a different request.", i.key)
	}
	return a, nil
}

// storeAnswer stores the response in the transaction of the request.
func (i idempotent) storeAnswer(ctx context.Context, st *Step, a answer) error {
	if _, err := st.Q.ExecContext(ctx, `DELETE FROM stripe_idempotency WHERE stored_at < ?`, st.realNow-idempotencyLife.Milliseconds()); err != nil {
		return fmt.Errorf("drop old idempotency keys: %w", err)
	}
	_, err := st.Q.ExecContext(ctx, `INSERT INTO stripe_idempotency (key, endpoint, fingerprint, status, body, stored_at) VALUES (?, ?, ?, ?, ?, ?)`,
		i.key, i.endpoint, i.fingerprint, a.status, string(a.body), st.realNow)
	if err != nil {
		return fmt.Errorf("remember idempotency key: %w", err)
	}
	return nil
}
