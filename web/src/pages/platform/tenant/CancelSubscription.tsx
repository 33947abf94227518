import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { AreaField, Check } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'

/** Cancels a subscription, immediately or at the end of the period, and explains both. */
export function CancelSubscription({ of, tenant, open, onClose }: {
  of: Schema<'Subscription'>; tenant: Schema<'AdminTenant'>; open: boolean; onClose: () => void
}) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const [now, setNow] = useState(false)
  const day = format.day(of.current_period_end)
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Cancel {of.plan.name} for {tenant.name}</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          await api.POST('/api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/cancel', {
            params: { path: { tenant: tenant.id, subscription: of.id } }, body: { immediately: now, reason: String(values.reason).trim() || null },
          })
          await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
          onClose()
          toast(now ? <Trans>The subscription has ended.</Trans> : <Trans>The subscription ends on {day}.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            <div className="stack tight" role="radiogroup" aria-label={t`When`}>
              <Check type="radio" name="when" value="end" checked={!now} onChange={() => setNow(false)} small={<Trans>The customer keeps access until then and can undo the cancellation.</Trans>}>
                <Trans>On {day}, at the end of the period</Trans>
              </Check>
              <Check type="radio" name="when" value="now" checked={now} onChange={() => setNow(true)} small={<Trans>The customer loses the features of the plan. The subscription cannot be resumed.</Trans>}>
                <Trans>Now</Trans>
              </Check>
            </div>
            <AreaField name="reason" label={t`Reason`} hint={t`optional`} rows={2} maxLength={500} />
            <div className="acts">
              <Button onClick={onClose}><Trans>Go back</Trans></Button>
              <Button type="submit" look="danger solid" busy={busy}>{now ? <Trans>Cancel now</Trans> : <Trans>Cancel on {day}</Trans>}</Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
