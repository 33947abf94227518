import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { MenuEntry, More } from '../../../ui/Menu'
import { Day, When } from '../../../ui/When'
import { useReadAgain } from '../useProfile'

/** A passkey. Enter saves a new name, Escape restores the old one. */
export function PasskeyRow({ of, onRemove }: { of: Schema<'PasskeyView'>; onRemove: () => void }) {
  const { t } = useLingui()
  const readAgain = useReadAgain()
  const [renaming, setRenaming] = useState(false)

  async function rename(values: Values) {
    await api.PATCH('/api/v1/user/passkeys/{id}', { params: { path: { id: of.id } }, body: { name: String(values.name).trim() } })
    await readAgain()
    setRenaming(false)
  }
  return (
    <tr>
      <td className="k1">
        {renaming
          ? (
              <Form className="rename" onSubmit={rename}>
                {({ busy }) => (
                  <>
                    <TextField
                      name="name" label={<span className="sr"><Trans>Name</Trans></span>} defaultValue={of.name} maxLength={255} autoComplete="off" autoFocus
                      onFocus={(event) => event.currentTarget.select()} onKeyDown={(event) => { if (event.key === 'Escape') setRenaming(false) }}
                    />
                    <Button type="submit" size="s" busy={busy}><Trans>Save</Trans></Button>
                  </>
                )}
              </Form>
            )
          : <><b>{of.name}</b><small>{of.synced ? <Trans>Synced to your other devices</Trans> : <Trans>On this device only</Trans>}</small></>}
      </td>
      <td className="k2" data-l={t`Last used`}>{of.last_used_at ? <When at={of.last_used_at} /> : <Trans>Never</Trans>}</td>
      <td className="k3" data-l={t`Added`}><Day at={of.created_at} /></td>
      <td className="acts-cell k4">
        <More small label={t`Rename or remove ${of.name}`}>
          <MenuEntry icon="pencil" onClick={() => setRenaming(true)}><Trans>Rename</Trans></MenuEntry>
          <MenuEntry icon="x" danger onClick={onRemove}><Trans context="a factor">Remove</Trans></MenuEntry>
        </More>
      </td>
    </tr>
  )
}
