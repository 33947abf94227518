package importer

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/team"
)

const kindMembership, kindMember = "membership", "member"

var membershipColumns = []column{{"tenant", true}, {"email", true}, {"role", false}}

// membership decides how to import a line of the memberships file.
func (s *Service) membership(ctx context.Context, p *pass, r row) (decision, error) {
	address, user, err := s.findUser(ctx, p, "email", r.get("email"))
	if err != nil {
		return decision{}, err
	}
	if p.has(kindGone, address) {
		return decision{notes: []string{"email: the account was imported and was deleted here"}}, nil
	}
	if err := p.checkUnique("email", kindMember, address); err != nil {
		return decision{}, err
	}
	id := strconv.FormatInt(user, 10)
	before, again, err := s.store.findImported(ctx, kindMembership, id)
	if err != nil {
		return decision{}, err
	}
	role := r.get("role")
	if role == "" {
		role = team.MemberRole
	}
	now := importedLine{kind: kindMembership, key: id, digest: lineHash(r, membershipColumns), made: true}
	if again && user != 0 && before.digest == now.digest {
		return decision{}, nil
	}
	tenantID, err := s.organization(ctx, p, r.get("tenant"))
	if err != nil {
		return decision{}, err
	}
	now.resourceID = tenantID.String()
	at, placed, err := s.deps.Team.FindTenantOf(ctx, address)
	if err != nil {
		return decision{}, err
	}
	planned, willBe := p.places[hashParts(address)]
	switch {
	case placed && at != tenantID || willBe && planned != hashParts(r.get("tenant")):
		return decision{}, newProblem("email", "is already a member of another organization: %q", r.get("email"))
	case placed:
		return s.updateMember(ctx, tenantID, user, role, now, again)
	case willBe && role == team.Owner:
		return decision{}, nil
	case willBe:
		return decision{notes: []string{"role: is the owner, and stays so"}}, nil
	}
	return s.newMember(ctx, p, r, member{address, user, tenantID, role}, now)
}

type member struct {
	address string
	user    int64     // 0 if this import will create the user first
	tenant  uuid.UUID // uuid.Nil if this import will create the tenant first
	role    string
}

func (s *Service) newMember(ctx context.Context, p *pass, r row, m member, now importedLine) (decision, error) {
	if err := s.roleExists(ctx, m.tenant, m.role); err != nil {
		return decision{}, err
	}
	if err := s.checkRoom(ctx, p, hashParts(r.get("tenant")), m.tenant); err != nil {
		return decision{}, err
	}
	p.addMembership(m.address, r.get("tenant"))
	return decision{action: create, do: func(ctx context.Context) error {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if err := s.deps.Team.Add(ctx, m.tenant, m.user, m.role); err != nil {
				return err
			}
			return s.finish(ctx, now, nil)
		})
	}}, nil
}

// checkRoom returns a problem unless the team has a seat for one more member. If this import adds a
// subscription, its plan limits the seats.
func (s *Service) checkRoom(ctx context.Context, p *pass, key digest, tenantID uuid.UUID) error {
	taken, err := s.deps.Team.Seats(ctx, tenantID)
	if err != nil {
		return err
	}
	plan, isPlanned := p.plans[key]
	if isPlanned {
		taken.Limit = plan.limit
	}
	if left := taken.Available(); left != nil && *left <= p.added[key] {
		return newProblem("tenant", "all seats of the plan are taken: %d of %d", taken.Total()+p.added[key], *taken.Limit)
	}
	return plan.checkBilled(taken.Members + p.added[key] + 1)
}

// updateMember decides how to import a line of a user who is already a member of the tenant.
func (s *Service) updateMember(ctx context.Context, tenantID uuid.UUID, user int64, name string, now importedLine, again bool) (decision, error) {
	m, err := s.deps.Team.Member(ctx, tenantID, user)
	switch {
	case err != nil:
		return decision{}, err
	case m.Role == name:
		return s.keepUnchanged(now, now.resourceID), nil
	case m.Role == team.Owner:
		return s.keepUnchanged(now, now.resourceID, "role: is the owner, and stays so"), nil
	case !again:
		return s.keepUnchanged(now, now.resourceID, "role: is a member already, as "+strconv.Quote(m.Role)+", and stays so"), nil
	}
	if err := s.roleExists(ctx, tenantID, name); err != nil {
		return decision{}, err
	}
	role, _, err := s.deps.Team.AssignableRole(ctx, tenantID, name)
	if err != nil {
		return decision{}, err
	}
	return decision{action: update, do: func(ctx context.Context) error {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if err := s.deps.Team.ChangeRole(ctx, team.CommandActor(), tenantID, user, role.ID); err != nil {
				return err
			}
			return s.finish(ctx, now, nil)
		})
	}}, nil
}

// roleExists returns a problem if the role cannot be assigned in the tenant.
func (s *Service) roleExists(ctx context.Context, tenantID uuid.UUID, name string) error {
	_, ok, err := s.deps.Team.AssignableRole(ctx, tenantID, name)
	switch {
	case err != nil || ok:
		return err
	case name == team.Owner:
		return newProblem("role", "set the owner of an organization in the tenants file")
	case tenantID == uuid.Nil:
		return newProblem("role", "a new organization only has the roles admin and member; import it first, create the role, then import the membership: %q", name)
	}
	return newProblem("role", "the organization does not have this role: %q", name)
}
