import { Trans } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Note, Problem } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'

/** Shows that a tenant is deleted, and restores it. */
export function Deleted({ of }: { of: Schema<'AdminTenant'> }) {
  const format = useFormat()
  const queries = useQueryClient()
  const may = usePlatformMay()
  const restore = useMutation({
    mutationFn: () => api.POST('/api/v1/admin/tenants/{tenant}/restore', { params: { path: { tenant: of.id } } }),
    onSuccess: async () => {
      await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
      toast(<Trans>{of.name} was restored.</Trans>)
    },
  })
  const day = format.day(of.deleted_at!)
  return (
    <div className="stack gap-below">
      <Note
        tone="warn" title={<Trans>Deleted on {day} by its owner</Trans>}
        actions={may('tenants.manage') && <Button size="s" icon="undo" busy={restore.isPending} onClick={() => restore.mutate()}><Trans>Restore</Trans></Button>}
      >
        <Trans>Members no longer have access. Until its data is permanently deleted, it can be restored, without members who have joined another organization.</Trans>
      </Note>
      {restore.error && <Problem error={restore.error} />}
    </div>
  )
}
