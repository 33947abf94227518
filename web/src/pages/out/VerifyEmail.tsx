import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api } from '../../api/client'
import { Out } from '../../shell/Out'
import { Button, ButtonLink } from '../../ui/Button'
import { Problem } from '../../ui/Messages'

/** Confirms an address, when the reader says so: scanners of mail open links, too. */
export default function VerifyEmail() {
  const { t } = useLingui()
  const queries = useQueryClient()
  const { token = '' } = useSearch({ strict: false }) as Record<string, string | undefined>
  const confirm = useMutation({
    mutationFn: () => api.POST('/api/v1/auth/verify-email', { body: { token } }),
    onSuccess: () => queries.invalidateQueries(),
  })
  return (
    <Out title={t`Confirm your address`}>
      {confirm.isSuccess
        ? (
          <div role="status">
            <h1><Trans>Your address is confirmed</Trans></h1>
            <p className="gap-top"><ButtonLink to="/" look="primary" size="big" block><Trans>Go on</Trans></ButtonLink></p>
          </div>
        )
        : (
          <div className="stack">
            <h1><Trans>Confirm your address</Trans></h1>
            {confirm.error && <Problem error={confirm.error} />}
            <Button look="primary" size="big" block busy={confirm.isPending} onClick={() => confirm.mutate()}><Trans>Yes, this is my address</Trans></Button>
            <p className="help center"><Trans>You did not ask for this? Then close the page; nothing happens.</Trans></p>
          </div>
        )}
    </Out>
  )
}
