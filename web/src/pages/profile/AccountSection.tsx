import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { address, api, ApiError } from '../../api/client'
import { useMe } from '../../app/session'
import { Button, ButtonAnchor } from '../../ui/Button'
import { Confirm } from '../../ui/Confirm'
import { Section } from '../../ui/Page'

/** The export of personal data and the deletion of the account. */
export function AccountSection() {
  const { t } = useLingui()
  const { user } = useMe()
  const [asking, setAsking] = useState(false)

  async function remove(values: Record<string, string | boolean>) {
    try {
      await api.DELETE('/api/v1/user', { body: { current_password: String(values.current_password) || undefined } })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'OWNS_TENANT') {
        throw new ApiError(error.status, t`You own an organization with other members or a paid subscription. Transfer or delete it first in its settings.`, error.code)
      }
      throw error
    }
    location.assign(document.baseURI)
  }
  return (
    <Section title={<Trans>Your data</Trans>}>
      <div className="stack">
        <div className="row">
          <p className="t13 muted grow wide-text"><Trans>All data that we store about you, in a machine-readable file.</Trans></p>
          <ButtonAnchor icon="download" href={address('/api/v1/user/export')} download="account.json"><Trans>Download your data</Trans></ButtonAnchor>
        </div>
        <div className="danger-zone">
          <div>
            <p><Trans>Delete your account: your sessions, your picture and your memberships are removed immediately. If you own an organization with other members, <Link to="/settings">transfer it</Link> first.</Trans></p>
            <Button look="danger" onClick={() => setAsking(true)}><Trans>Delete account</Trans></Button>
          </div>
        </div>
      </div>
      <Confirm
        open={asking} onClose={() => setAsking(false)} onConfirm={remove} name={user.email} password
        title={<Trans>Delete your account?</Trans>} action={<Trans>Delete account</Trans>}
      >
        <p><Trans>You will be signed out everywhere, and your name and email address will be deleted. An organization with no other members will be deleted too. This cannot be undone.</Trans></p>
      </Confirm>
    </Section>
  )
}
