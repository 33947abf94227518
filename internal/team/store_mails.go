package team

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team/teamsql"
)

// lockMails locks an address and returns the mails to it, in the order in which they were sent.
func (s store) lockMails(ctx context.Context, email string, now time.Time) ([]sentMail, error) {
	text, err := s.q(ctx).LockInvitedAddress(ctx, teamsql.LockInvitedAddressParams{Email: email, LastSentAt: now})
	if err != nil {
		return nil, sqldb.Wrap(err, "lock invited address")
	}
	var sent []sentMail
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, fmt.Errorf("read mails to invited address: %w", err)
	}
	return sent, nil
}

func (s store) setMails(ctx context.Context, email string, sent []sentMail, now time.Time) error {
	text, err := json.Marshal(sent)
	if err != nil {
		return fmt.Errorf("write mails to invited address: %w", err)
	}
	err = s.q(ctx).SetMailsToAddress(ctx, teamsql.SetMailsToAddressParams{Email: email, Mails: text, LastSentAt: now})
	return sqldb.Wrap(err, "count mail to invited address")
}

// pruneMails deletes addresses whose last mail was sent at or before the given time.
func (s store) pruneMails(ctx context.Context, by time.Time) error {
	return sqldb.Wrap(s.q(ctx).PruneInvitedAddresses(ctx, by), "prune invited addresses")
}
