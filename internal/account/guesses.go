package account

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
)

// guessWindow is the period over which wrong passwords, or wrong codes, of an account are counted.
// It is also the longest time for which an account rejects further attempts.
const guessWindow = 15 * time.Minute

// firstClosing is how long the first wrong password over the limit closes an account to passwords.
// Each further wrong password doubles the time, up to guessWindow.
const firstClosing = time.Minute

// guessCounter counts the wrong passwords, or the wrong codes, of one account.
type guessCounter struct {
	count  int64
	began  time.Time // start of the count
	closed time.Time // no password is checked before this time
}

// waitTime returns the time until the next guess can be checked, or 0. limit is the number of free
// guesses.
func (g guessCounter) waitTime(limit int64, now time.Time) time.Duration {
	if g.count < limit {
		return 0
	}
	return max(0, g.closed.Sub(now))
}

// isStale reports whether the times are so far in the future that the clock must have been set back
// since. Such guesses would count until the clock has caught up.
func (g guessCounter) isStale(now time.Time) bool {
	return g.began.Sub(now) > guessWindow || g.closed.Sub(now) > guessWindow
}

// add counts one more guess. limit is the number of free guesses.
func (g *guessCounter) add(limit int64, now time.Time) {
	if now.Sub(g.began) >= guessWindow && now.Sub(g.closed) >= guessWindow {
		*g = guessCounter{began: now, closed: now}
	}
	g.count++
	if over := g.count - limit; over >= 0 {
		g.closed = now.Add(min(guessWindow, firstClosing<<min(over, 4)))
	}
}

// countedGuess is a password or a code that was counted as a guess before its check. After the
// check, the caller calls exactly one of recordRight and recordWrong.
type countedGuess struct {
	recordRight func(context.Context) error // removes the guess from the count; also if the check failed
	recordWrong func(context.Context) error // adds an audit entry if the account is now closed
}

// countGuess counts a login as a guess before its password is checked, so that concurrent guesses
// cannot exceed the limit together. After too many wrong passwords it returns an error with the
// time to wait, even if this password is correct. key is the email; emails without an account are
// counted alike, so that the limit does not reveal whether an account exists (rules:
// account#wrong-passwords). Codes of second factors have separate keys (see codeGuesses). If the
// guess closes the account and is wrong, recordWrong calls closed. tooMany is the error over the limit.
func (s *Service) countGuess(ctx context.Context, key string, tooMany *fault.Error, closed func(context.Context) error) (countedGuess, error) {
	limit := int64(s.deps.WrongPasswords)
	nothing := func(context.Context) error { return nil }
	if limit <= 0 {
		return countedGuess{nothing, nothing}, nil
	}
	var before, after guessCounter
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		var err error
		if before, err = s.store.lockGuesses(ctx, key, now); err != nil {
			return err
		}
		if before.isStale(now) {
			before = guessCounter{began: now, closed: now}
		}
		if left := before.waitTime(limit, now); left > 0 {
			refusal := *tooMany
			refusal.RetryAfter = (left + time.Second - 1).Truncate(time.Second)
			return &refusal
		}
		after = before
		after.add(limit, now)
		return s.store.setGuesses(ctx, key, after)
	})
	if err != nil {
		return countedGuess{}, err
	}
	right := func(ctx context.Context) error {
		// The caller may have canceled the request while its password was checked.
		return s.deps.DB.Tx(context.WithoutCancel(ctx), func(ctx context.Context) error {
			present, err := s.store.lockGuesses(ctx, key, s.deps.Clock.Now())
			if err != nil || present.count == 0 { // a reset has cleared the count
				return err
			}
			present.count--
			if present.closed.Equal(after.closed) { // no wrong guess since then
				present.closed = before.closed
			}
			return s.store.setGuesses(ctx, key, present)
		})
	}
	wrong := nothing
	if after.count >= limit {
		wrong = closed
	}
	return countedGuess{right, wrong}, nil
}

// recordBlocked records in the audit log that wrong passwords have closed an account to passwords.
// Each closing lasts longer than the one before, so guesses cannot flood the audit log.
func (s *Service) recordBlocked(ctx context.Context, email string) error {
	user, _, err := s.store.userByEmail(ctx, email)
	if errors.Is(err, errNoUser) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.Record(ctx, user.ID, "login.blocked", nil, map[string]any{"method": "password"})
	})
}

var (
	errTooManyGuesses = fault.New(fault.TooMany, "error.too_many_guesses")
	errTooManyCodes   = fault.New(fault.TooMany, "error.too_many_codes")
)
