import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { address, api } from '../api/client'
import { now } from '../app/clock'
import { meQuery, useMe } from '../app/session'
import { Button } from '../ui/Button'
import { Icon } from '../ui/Icon'

/** Returns the minutes until an impersonation ends. At its end, the session is read again, which reports the end. */
function useMinutesLeft(until: string | null | undefined): number | undefined {
  const queries = useQueryClient()
  const [, setTick] = useState(0)
  const left = until ? new Date(until).getTime() - now() : undefined
  useEffect(() => {
    if (left === undefined) return
    const timer = setTimeout(() => {
      setTick((tick) => tick + 1)
      if (left <= 0) void queries.invalidateQueries({ queryKey: meQuery.queryKey })
    }, left > 0 ? Math.min(20_000, left + 500) : 20_000)
    return () => clearTimeout(timer)
  })
  return left === undefined ? undefined : Math.max(0, Math.ceil(left / 60_000))
}

/** Shows the impersonated user during an impersonation, with a button to stop it. */
export function ActingBanner() {
  const { t } = useLingui()
  const { user, currentTenant, impersonation } = useMe()
  const minutes = useMinutesLeft(impersonation?.is_impersonating ? impersonation.expires_at : undefined)
  const leave = useMutation({
    mutationFn: () => api.POST('/api/v1/admin/impersonation/stop'),
    // Load the page again, so that nothing of the member's session is read with the admin's.
    onSuccess: () => location.assign(address(currentTenant ? `platform/tenants/${currentTenant.id}` : 'platform')),
  })
  if (!impersonation?.is_impersonating) return null
  const tenant = currentTenant?.name ?? ''
  return (
    <div className="actas" role="region" aria-label={t`Acting as another user`}>
      <Icon name="swap" />
      <span><Trans>You are acting as <b>{user.name}</b> of <b>{tenant}</b>.</Trans> {impersonation.read_only ? <Trans>View only: nothing can be changed.</Trans> : <Trans>Everything you do is recorded under your name.</Trans>}</span>
      {minutes !== undefined && <span className="left" role="timer"><Icon name="clock" /><Plural value={minutes} one="# minute left" other="# minutes left" /></span>}
      <Button size="s" busy={leave.isPending || leave.isSuccess} onClick={() => leave.mutate()}><Trans>Stop and go back</Trans></Button>
    </div>
  )
}
