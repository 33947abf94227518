import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../api/client'
import { useMe } from '../app/session'
import { Button } from '../ui/Button'
import { Icon } from '../ui/Icon'

/** Shows the impersonated user during an impersonation, with a button to stop it. */
export function ActingBanner() {
  const { t } = useLingui()
  const { user, currentTenant, impersonation } = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const leave = useMutation({
    mutationFn: () => api.POST('/api/v1/admin/impersonation/stop'),
    onSuccess: async () => {
      const tenant = currentTenant?.id
      queries.clear()
      await navigate(tenant ? { to: '/platform/tenants/$tenantId', params: { tenantId: tenant } } : { to: '/platform' })
    },
  })
  if (!impersonation?.is_impersonating) return null
  const tenant = currentTenant?.name ?? ''
  return (
    <div className="actas" role="region" aria-label={t`Acting as another user`}>
      <Icon name="swap" />
      <span><Trans>You are acting as <b>{user.name}</b> of <b>{tenant}</b>. Everything you do is recorded under your name.</Trans></span>
      <Button size="s" busy={leave.isPending} onClick={() => leave.mutate()}><Trans>Stop and go back</Trans></Button>
    </div>
  )
}
