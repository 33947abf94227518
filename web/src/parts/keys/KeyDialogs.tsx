import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import type { Schema } from '../../api/client'
import { Button } from '../../ui/Button'
import { Confirm } from '../../ui/Confirm'
import { Dialog } from '../../ui/Dialog'
import { SelectField, TextField } from '../../ui/Field'
import { Form } from '../../ui/Form'
import { toast } from '../../ui/Toast'
import type { Scope } from '../scope'
import { keysKey, keysOf } from './api'
import { overlaps } from './scopes'

interface Props {
  of: Schema<'APIKey'>
  scope: Scope
  open: boolean
  onClose: () => void
}

function useReload(scope: Scope): () => Promise<void> {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: keysKey(scope) })
}

export function RenameKey({ of, scope, open, onClose }: Props) {
  const { t } = useLingui()
  const reload = useReload(scope)
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Rename “{of.name}”</Trans>}>
      <Form className="stack" onSubmit={async (values) => { await keysOf(scope).rename(of.id, String(values.name).trim()); await reload(); onClose() }}>
        {({ busy }) => (
          <>
            <TextField name="name" label={t`Name`} defaultValue={of.name} autoComplete="off" data-autofocus />
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Rename</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

export function RotateKey({ of, scope, open, onClose, onMade }: Props & { onMade: (key: Schema<'NewAPIKey'>) => void }) {
  const { t } = useLingui()
  const reload = useReload(scope)
  const words = (minutes: number) => {
    if (minutes === 0) return t`no, it is revoked immediately`
    if (minutes === 60) return t`for an hour`
    return minutes === 24 * 60 ? t`for a day` : t`for a week`
  }
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Replace “{of.name}”</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          const made = await keysOf(scope).rotate(of.id, Number(values.overlap_minutes))
          await reload()
          onClose()
          onMade(made)
        }}
      >
        {({ busy }) => (
          <>
            <p className="flat"><Trans>You get a new key with the same permissions. Switch your application to the new key before the old one expires.</Trans></p>
            <SelectField name="overlap_minutes" label={t`Old key remains valid`} defaultValue={String(24 * 60)}>
              {overlaps.map((minutes) => <option key={minutes} value={minutes}>{words(minutes)}</option>)}
            </SelectField>
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Create new key</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

export function EndKey({ of, scope, open, onClose }: Props) {
  const reload = useReload(scope)
  return (
    <Confirm
      open={open} onClose={onClose} title={<Trans>Revoke “{of.name}” now?</Trans>} action={<Trans>Revoke key</Trans>}
      onConfirm={async () => { await keysOf(scope).end(of.id); await reload(); toast(<Trans>The key “{of.name}” was revoked.</Trans>) }}
    >
      <p><Trans>The key stops working immediately. This cannot be undone. Applications that still use it will need a new key.</Trans></p>
    </Confirm>
  )
}
