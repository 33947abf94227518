import { Trans, useLingui } from '@lingui/react/macro'
import { useBlocker } from '@tanstack/react-router'
import { useMutation } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Problem } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { useRoleWrites } from './useRoleWrites'

/** Saves or discards the changed roles. Asks before the page is left with unsaved changes. */
export function SaveRoles({ changed, onDone }: {
  changed: { role: Schema<'TenantRole'>; permissions: Schema<'TenantPermission'>[] }[]; onDone: () => void
}) {
  const { t } = useLingui()
  const { list } = useFormat()
  const writes = useRoleWrites()
  const names = list(changed.map(({ role }) => role.name))
  const saving = useMutation({
    mutationFn: async () => {
      for (const { role, permissions } of changed) await writes.update(role, { permissions })
    },
    onSuccess: () => {
      toast(t`Saved: ${names}`, {
        label: t`Undo`,
        run: async () => {
          for (const { role } of changed) await writes.update(role, { permissions: role.permissions })
        },
      })
      onDone()
    },
  })
  useBlocker({ shouldBlockFn: () => !window.confirm(t`Leave without saving?`), enableBeforeUnload: true })
  return (
    <>
      {saving.isError && <Problem error={saving.error} />}
      <div className="form-foot flush">
        <p className="t13 muted"><Trans>Changed: {names}</Trans></p>
        <div className="acts end">
          <Button look="quiet" onClick={onDone}><Trans>Undo</Trans></Button>
          <Button look="primary" busy={saving.isPending} onClick={() => saving.mutate()}><Trans>Save {names}</Trans></Button>
        </div>
      </div>
    </>
  )
}
