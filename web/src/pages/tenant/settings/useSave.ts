import { useLingui } from '@lingui/react/macro'
import { api, type Schema } from '../../../api/client'
import { toast } from '../../../ui/Toast'
import { useRefresh } from '../shared/reads'

/** Returns a function that saves settings of the organization. */
export function useSave(): (body: Schema<'UpdateTenantRequest'>) => Promise<void> {
  const { t } = useLingui()
  const refresh = useRefresh()
  return async (body) => {
    await api.PATCH('/api/v1/tenant', { body })
    await refresh('/audit-logs')
    toast(t`Saved`)
  }
}
