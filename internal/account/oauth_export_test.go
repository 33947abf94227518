package account

import "context"

// Admit is admit, for somebody with a verified email.
func (o *OAuth) Admit(ctx context.Context, provider, subject, email string) (string, error) {
	return o.admit(ctx, provider, identity{subject: subject, email: email, emailVerified: true})
}
