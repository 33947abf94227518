package trial

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/trial/trialsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *trialsql.Queries { return trialsql.New(s.db.Conn(ctx)) }

func (s store) had(ctx context.Context, tenantID, planID uuid.UUID) (bool, error) {
	had, err := s.q(ctx).HadTrial(ctx, trialsql.HadTrialParams{TenantID: tenantID, PlanID: planID})
	return had, sqldb.Wrap(err, "look for a trial")
}

func (s store) begin(ctx context.Context, t Trial) error {
	err := s.q(ctx).BeginTrial(ctx, trialsql.BeginTrialParams{
		TenantID: t.TenantID, SubscriptionID: t.SubscriptionID, BeganAt: t.BeganAt, PlanID: t.PlanID,
	})
	return sqldb.Wrap(err, "record trial")
}
