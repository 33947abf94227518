import { useLingui } from '@lingui/react/macro'

/** Returns a function that explains to an admin why a login or test of the connection failed. */
export function useReason(): (code: string) => string {
  const { t } = useLingui()
  const reasons: Record<string, string> = {
    provider_error: t`Your provider rejected the client ID or secret, or its answer is not valid. Copy both again from the provider.`,
    email_unverified: t`Your provider says that the email address is not verified. Verify it there.`,
    sso_domain_mismatch: t`The email address isn’t in a verified domain of your organization.`,
    sso_account_elsewhere: t`The email address belongs to an account outside your organization.`,
    sso_link_refused: t`This account can’t be linked. The owner, or a member with the same permissions, must save the connection.`,
    sso_not_provisioned: t`This person isn’t a member yet. Invite them, or turn on “Create members at their first sign-in”.`,
    seat_limit_reached: t`All seats of your organization are taken. Add a seat first.`,
    access_denied: t`The sign-in was declined at the provider.`,
    invalid_state: t`The sign-in took too long, or it was started in another browser. Try again.`,
  }
  return (code) => reasons[code] ?? t`Something went wrong on our side. Try again.`
}
