import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Form } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { useHere, useMembers, useRefresh } from '../shared/reads'
import { bound } from './reads'

/** Requires single sign-on of the members in the verified domains, or stops requiring it. */
export function RequireForm({ sso }: { sso: Schema<'SSOConnection'> }) {
  const { t } = useLingui()
  const here = useHere()
  const refresh = useRefresh()
  const members = useMembers().data?.data ?? []
  const total = members.length
  const affected = bound(members, sso.domains).length
  const domains = sso.domains.join(', ')

  async function save() {
    const { issuer, client_id, role, provision_members, counts_as_mfa, session_hours } = sso
    await api.PUT('/api/v1/tenant/{tenantId}/sso', { ...here, body: { issuer, client_id, role, provision_members, counts_as_mfa, session_hours, required: !sso.required } })
    await refresh('/sso', '/audit-logs')
    toast(sso.required ? t`SSO is optional now` : t`SSO is required now`)
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          <p className="muted t13 break">
            {sso.required
              ? <Trans>Members with a {domains} address sign in with SSO only.</Trans>
              : <><Trans>Members with a {domains} address can then sign in with SSO only.</Trans> <Trans>This affects {affected} of {total} members from their next request.</Trans></>}
          </p>
          <Note icon="key" title={<Trans>If your identity provider is down</Trans>}>
            <Trans>The owner can always sign in without SSO, so you can’t be locked out. Each of these sign-ins is recorded and emailed to the owner.</Trans>
          </Note>
          <div className="acts">
            <Button type="submit" look={sso.required ? 'plain' : 'primary'} busy={busy}>
              {sso.required ? <Trans>Stop requiring SSO</Trans> : <Plural value={affected} one="Require SSO for # member" other="Require SSO for # members" />}
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
