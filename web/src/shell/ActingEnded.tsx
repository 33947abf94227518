import { Trans } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { address, api, ApiError } from '../api/client'
import { whenActingEnded } from '../api/queries'
import { now } from '../app/clock'
import { meQuery } from '../app/session'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { Problem } from '../ui/Messages'

function Ended() {
  const status = useQuery({
    queryKey: ['acting'], gcTime: 0,
    queryFn: async () => (await api.GET('/api/v1/admin/impersonation/status')).data!.data,
  })
  const until = status.data?.expires_at
  const leave = useMutation({
    mutationFn: () => api.POST('/api/v1/admin/impersonation/stop').catch((error: unknown) => {
      // Another window has stopped the impersonation, or the session has expired. The platform's
      // pages then ask to sign in.
      if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 401)) throw error
    }),
    onSuccess: () => location.assign(address('platform')),
  })
  return (
    <>
      <p>
        {until && new Date(until).getTime() <= now()
          ? <Trans>Your time to act as a member is over.</Trans>
          : <Trans>Your permission to act as members was removed.</Trans>}{' '}
        <Trans>Changes saved before then are kept.</Trans>
      </p>
      {leave.isError && <Problem error={leave.error} />}
      <div className="acts">
        <Button look="primary" autoFocus data-autofocus busy={leave.isPending || leave.isSuccess} onClick={() => leave.mutate()}><Trans>Back to the platform</Trans></Button>
      </div>
    </>
  )
}

/**
 * Reports that an impersonation has ended and leads back, because the service rejects all other
 * requests.
 */
export function ActingEnded() {
  const queries = useQueryClient()
  const [ended, setEnded] = useState(false)
  useEffect(() => whenActingEnded(() => setEnded(true)), [])
  const name = ended ? queries.getQueryData(meQuery.queryKey)?.user.name : undefined
  return (
    <Dialog open={ended} onClose={() => {}} title={name ? <Trans>You are no longer acting as {name}</Trans> : <Trans>You are no longer acting as another user</Trans>}>
      {ended && <Ended />}
    </Dialog>
  )
}
