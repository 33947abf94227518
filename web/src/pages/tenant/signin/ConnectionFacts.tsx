import { Plural, Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useRoleName } from '../../../app/roles'
import { When } from '../../../ui/When'

/** The facts of a connection. */
export function ConnectionFacts({ sso }: { sso: Schema<'SSOConnection'> }) {
  const roleName = useRoleName()
  const role = roleName(sso.role)
  return (
    <dl className="dl conn">
      <div><dt><Trans>Issuer</Trans></dt><dd>{sso.issuer}</dd></div>
      <div><dt><Trans>Client ID</Trans></dt><dd><code>{sso.client_id}</code></dd></div>
      <div><dt><Trans>New members</Trans></dt><dd>{sso.provision_members ? <Trans>Created at their first sign-in, with the role {role}</Trans> : <Trans>By invitation only</Trans>}</dd></div>
      <div><dt><Trans>Second factor</Trans></dt><dd>{sso.counts_as_mfa ? <Trans>Checked by your identity provider</Trans> : <Trans>Asked for after SSO</Trans>}</dd></div>
      <div><dt><Trans>Session length</Trans></dt><dd><Plural value={sso.session_hours} one="# hour" other="# hours" /></dd></div>
      <div><dt><Trans>Last sign-in</Trans></dt><dd>{sso.last_login_at ? <When at={sso.last_login_at} /> : <Trans>Never</Trans>}</dd></div>
    </dl>
  )
}
