import { Trans, useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useMay } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Check, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { permissions } from './permissions'
import { useRoleWrites } from './useRoleWrites'

/** Creates a role, or renames the given one. */
export function RoleDialog({ role, open, onClose }: { role?: Schema<'TenantRole'>; open: boolean; onClose: () => void }) {
  const { t, i18n } = useLingui()
  const may = useMay()
  const writes = useRoleWrites()

  async function save(values: Values) {
    const name = String(values.name).trim()
    if (role) await writes.update(role, { name })
    else await writes.create(name, permissions.map(([one]) => one).filter((one) => values[one] === true))
    onClose()
    if (!role) return toast(t`The role ${name} was created`)
    toast(t`The role was renamed to ${name}`, { label: t`Undo`, run: () => writes.update(role, { name: role.name }) })
  }
  return (
    <Dialog open={open} onClose={onClose} title={role ? <Trans>Rename {role.name}</Trans> : <Trans>New role</Trans>}>
      <Form onSubmit={save} className="stack">
        {({ busy }) => (
          <>
            <TextField name="name" label={t`Name`} defaultValue={role?.name} autoComplete="off" maxLength={255} autoFocus />
            {!role && (
              <fieldset className="stack">
                <legend className="label"><Trans>Additional permissions</Trans></legend>
                {permissions.filter(([one]) => may(one)).map(([one, label]) => <Check key={one} name={one}>{i18n._(label)}</Check>)}
              </fieldset>
            )}
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}>{role ? <Trans>Rename</Trans> : <Trans>Create role</Trans>}</Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
