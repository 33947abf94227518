package oauth

import "context"

// Admit calls findOrCreateUser for an identity with a verified email.
func (s *Service) Admit(ctx context.Context, provider, subject, email string) (string, error) {
	return s.findOrCreateUser(ctx, provider, identity{subject: subject, email: email, emailVerified: true}, "")
}
