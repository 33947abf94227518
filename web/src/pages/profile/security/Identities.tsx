import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { $api, api, type Schema } from '../../../api/client'
import { providerName } from '../../../app/providers'
import { useMe, useSettings } from '../../../app/session'
import { ConfirmFactors } from '../../../parts/factors/ConfirmFactors'
import { Button } from '../../../ui/Button'
import { Icon } from '../../../ui/Icon'
import { Read } from '../../../ui/Read'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { useReadAgain } from '../useProfile'
import { useFocusNext } from './useFocusNext'

/** The accounts at providers that can sign in, and the providers that are not connected. */
export function Identities({ factors }: { factors: Schema<'Factors'> }) {
  const identities = $api.useQuery('get', '/api/v1/user/identities', {})
  return <Read query={identities} lines={2}>{({ data }) => <List identities={data} factors={factors} />}</Read>
}

function List({ identities, factors }: { identities: Schema<'UserIdentity'>[]; factors: Schema<'Factors'> }) {
  const { t } = useLingui()
  const { oauth_providers: providers } = useSettings()
  const { currentTenant } = useMe()
  const readAgain = useReadAgain()
  const [removing, setRemoving] = useState<Schema<'UserIdentity'>>()
  const root = useFocusNext(identities.map((one) => one.id))
  const others = providers.filter((one) => !identities.some(({ provider }) => provider === one))
  const organization = currentTenant?.name
  const named = removing && providerName(removing.provider)

  async function remove(confirmation: object) {
    await api.DELETE('/api/v1/user/identities/{id}', { params: { path: { id: removing!.id } }, body: { ...confirmation } })
    await readAgain()
    toast(t`${named} was disconnected`)
  }
  if (identities.length + others.length === 0) return <p className="muted t13"><Trans>No connected accounts</Trans></p>
  return (
    <div ref={root}>
      <ul className="items marks">
        {identities.map((one) => {
          const managed = one.provider === 'sso'
          const name = providerName(one.provider)
          return (
            <li key={one.id} className="below">
              <Icon name={managed ? 'building' : 'key'} />
              <div className="what">
                <div className="nm"><b>{managed ? <Trans>{organization} SSO</Trans> : name}</b><Status tone="good"><Trans>Connected</Trans></Status></div>
                <p>{one.email}</p>
                {managed && <small><Trans>Managed by your organization.</Trans></small>}
              </div>
              {!managed && <div className="do"><Button size="s" onClick={() => setRemoving(one)} aria-label={t`Disconnect ${name}`}><Trans>Disconnect</Trans></Button></div>}
            </li>
          )
        })}
        {others.map((one) => {
          const name = providerName(one)
          return (
            <li key={one}>
              <Icon name="key" />
              <div className="what"><div className="nm"><b>{name}</b></div><p><Trans>Not connected. Sign in with {name} and this email address to connect it.</Trans></p></div>
            </li>
          )
        })}
      </ul>
      <ConfirmFactors
        open={removing !== undefined} onClose={() => setRemoving(undefined)} factors={factors} danger onConfirm={remove}
        title={<Trans>Disconnect {named}?</Trans>} action={<Trans>Disconnect</Trans>}
      >
        <p><Trans>You will no longer be able to sign in with {named}. Sessions started with it will end.</Trans></p>
      </ConfirmFactors>
    </div>
  )
}
