import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { AreaField, Check } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { toast } from '../../../ui/Toast'
import { useAction } from '../shared/Action'
import { useHere, useRefresh } from '../shared/reads'
import { canChange } from './usePreview'

const changed = ['/subscription', '/plans', '/invoices', '/entitlements', '/audit-logs', '/timeline']

/** Asks for the end of the subscription and the reason. */
function CancelForm({ subscription, onClose }: { subscription: Schema<'Subscription'>; onClose: () => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const here = useHere()
  const refresh = useRefresh()
  const [now, setNow] = useState(false)
  const end = format.day(subscription.current_period_end)
  const { name } = subscription.plan

  async function cancel(values: Values) {
    const reason = String(values.reason).trim()
    await api.POST('/api/v1/tenant/{tenantId}/subscription/cancel', { ...here, body: { immediately: now, reason: reason || undefined } })
    await refresh(...changed)
    onClose()
    if (now) return toast(t`${name} has ended`)
    toast(t`${name} ends on ${end}`, {
      label: t`Undo`,
      run: async () => {
        await api.POST('/api/v1/tenant/{tenantId}/subscription/resume', here)
        await refresh(...changed)
      },
    })
  }
  return (
    <Form onSubmit={cancel} className="stack">
      {({ busy }) => (
        <>
          <Check type="radio" name="when" checked={!now} onChange={() => setNow(false)} small={<Trans>Everything works until then, and you can still change your mind.</Trans>}>
            <Trans>On {end}, at the end of the paid period</Trans>
          </Check>
          <Check type="radio" name="when" checked={now} onChange={() => setNow(true)} small={<Trans>Features are turned off immediately. Outstanding amounts are billed now, and unused time is not refunded.</Trans>}>
            <Trans>Immediately</Trans>
          </Check>
          <AreaField name="reason" label={t`Why are you canceling?`} hint={<Trans>optional</Trans>} rows={3} maxLength={500} />
          <div className="acts">
            <Button onClick={onClose}><Trans>Keep {name}</Trans></Button>
            <Button type="submit" look="danger solid" busy={busy}>{now ? <Trans>Cancel {name} immediately</Trans> : <Trans>Cancel {name} on {end}</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Cancels the subscription, or resumes it if it is already canceled. */
export function CancelSection({ subscription }: { subscription: Schema<'Subscription'> }) {
  const { t } = useLingui()
  const may = useMay()
  const format = useFormat()
  const here = useHere()
  const refresh = useRefresh()
  const [asking, setAsking] = useState(false)
  const { name } = subscription.plan
  const resume = useAction(async () => {
    await api.POST('/api/v1/tenant/{tenantId}/subscription/resume', here)
    await refresh(...changed)
    toast(t`${name} continues`)
  }, t`The subscription is still set to end`)
  if (!may('billing.manage') || !canChange(subscription)) return null
  const end = subscription.cancel_at && format.day(subscription.cancel_at)
  return (
    <Section title={<Trans>Cancel subscription</Trans>}>
      {end
        ? (
            <Note icon="clock" title={<Trans>{name} ends on {end}</Trans>} actions={<Button busy={resume.busy} onClick={() => resume.run()}><Trans>Keep {name}</Trans></Button>}>
              <Trans>After that, you will not be charged, and the features of the plan are turned off. Your data is kept.</Trans>
            </Note>
          )
        : (
            <div className="danger-zone">
              <div>
                <p><Trans>You lose the features of {name}, either immediately or at the end of the period. Your data, your team and your invoices are kept.</Trans></p>
                <Button look="danger" onClick={() => setAsking(true)}><Trans>Cancel {name}</Trans></Button>
              </div>
            </div>
          )}
      {resume.problem}
      <Dialog open={asking} onClose={() => setAsking(false)} title={<Trans>When should {name} end?</Trans>}>
        <CancelForm subscription={subscription} onClose={() => setAsking(false)} />
      </Dialog>
    </Section>
  )
}
