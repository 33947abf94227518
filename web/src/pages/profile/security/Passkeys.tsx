import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useMe } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { toast } from '../../../ui/Toast'
import { useReadAgain } from '../useProfile'
import { AddPasskey } from './AddPasskey'
import { CodesDialog } from './CodesDialog'
import { PasskeyRow } from './PasskeyRow'
import { remaining } from './remaining'
import { RemoveFactor } from './RemoveFactor'
import { useFocusNext } from './useFocusNext'

const most = 20

/** The passkeys, to add, rename and remove. */
export function Passkeys({ factors, requiring }: { factors: Schema<'Factors'>; requiring?: string }) {
  const { t } = useLingui()
  const { user } = useMe()
  const readAgain = useReadAgain()
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Schema<'PasskeyView'>>()
  const [codes, setCodes] = useState<string[] | null>(null)
  const { passkeys } = factors
  const root = useFocusNext(passkeys.map((one) => one.id))
  const count = passkeys.length
  const name = removing?.name

  async function remove(confirmation: object) {
    await api.DELETE('/api/v1/user/passkeys/{id}', { params: { path: { id: removing!.id } }, body: { ...confirmation } })
    await readAgain()
    toast(t`The passkey was removed`)
  }
  return (
    <div ref={root}>
      {count === 0 ? <p className="muted t13"><Trans>No passkeys yet</Trans></p> : (
        <table className="table cards mid passkeys">
          <thead>
            <tr>
              <th scope="col"><Trans>Passkey</Trans></th><th scope="col"><Trans>Last used</Trans></th><th scope="col"><Trans>Added</Trans></th>
              <th scope="col" className="fit"><span className="sr"><Trans>Actions</Trans></span></th>
            </tr>
          </thead>
          <tbody>{passkeys.map((one) => <PasskeyRow key={one.id} of={one} onRemove={() => setRemoving(one)} />)}</tbody>
        </table>
      )}
      <div className="setting-foot">
        <Button size="s" icon="plus" disabled={!user.email_verified || count >= most} onClick={() => setAdding(true)}><Trans>Add passkey</Trans></Button>
        {count >= most ? <span><Trans>You have {most} passkeys. Remove one to add another.</Trans></span> : count > 0 && <span className="end"><Trans>{count} of {most}</Trans></span>}
      </div>
      <AddPasskey open={adding} onClose={() => setAdding(false)} factors={factors} onCodes={setCodes} />
      <RemoveFactor
        open={removing !== undefined} onClose={() => setRemoving(undefined)} factors={factors} requiring={requiring} onConfirm={remove}
        title={<Trans>Remove “{name}”?</Trans>} action={<Trans>Remove passkey</Trans>}
      >
        <p><Trans>You can’t sign in with this passkey afterwards. Delete it from the device, too.</Trans> {remaining(count - 1, factors.totp !== null)}</p>
      </RemoveFactor>
      <CodesDialog codes={codes} onClose={() => setCodes(null)} />
    </div>
  )
}
