import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { address, api, ApiError } from '../../api/client'
import { useMe } from '../../app/session'
import { Button, ButtonAnchor } from '../../ui/Button'
import { Confirm } from '../../ui/Confirm'
import { Section } from '../../ui/Page'

/** A copy of what is kept about one, and the end of the account. */
export function AccountSection() {
  const { t } = useLingui()
  const { user } = useMe()
  const [asking, setAsking] = useState(false)

  async function remove(values: Record<string, string | boolean>) {
    try {
      await api.DELETE('/api/v1/user', { body: { current_password: String(values.current_password) || undefined } })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'OWNS_TENANT') {
        throw new ApiError(error.status, t`You own an organization with other members, or one that pays. Hand it over or delete it first, in its settings.`, error.code)
      }
      throw error
    }
    location.assign(document.baseURI)
  }
  return (
    <Section title={<Trans>Your data</Trans>}>
      <div className="stack">
        <div className="row">
          <p className="t13 muted grow"><Trans>Everything that is kept about you, as a file that programs can read.</Trans></p>
          <ButtonAnchor icon="download" href={address('/api/v1/user/export')} download="account.json"><Trans>Download your data</Trans></ButtonAnchor>
        </div>
        <div className="danger-zone">
          <div>
            <p><Trans>Delete your account: every login, your picture and your memberships are gone at once. Who owns an organization with others <Link to="/settings">hands it over</Link> first.</Trans></p>
            <Button look="danger" onClick={() => setAsking(true)}><Trans>Delete the account</Trans></Button>
          </div>
        </div>
      </div>
      <Confirm
        open={asking} onClose={() => setAsking(false)} onConfirm={remove} name={user.email} password
        title={<Trans>Delete your account?</Trans>} action={<Trans>Delete the account</Trans>}
      >
        <p><Trans>You are signed out everywhere, and your name and email are removed. An organization that is yours alone is deleted, too. This cannot be taken back.</Trans></p>
      </Confirm>
    </Section>
  )
}
