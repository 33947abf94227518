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

/** Asks when the subscription shall end, and why. */
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
          <Check type="radio" name="when" checked={!now} onChange={() => setNow(false)} small={<Trans>Everything works until then, and you can change your mind.</Trans>}>
            <Trans>On {end}, with the period that is paid</Trans>
          </Check>
          <Check type="radio" name="when" checked={now} onChange={() => setNow(true)} small={<Trans>Features are off from now on. What is owed is billed at once; unused time is not paid back.</Trans>}>
            <Trans>At once</Trans>
          </Check>
          <AreaField name="reason" label={t`Why?`} hint={<Trans>optional</Trans>} rows={3} maxLength={500} />
          <div className="acts">
            <Button onClick={onClose}><Trans>Keep {name}</Trans></Button>
            <Button type="submit" look="danger solid" busy={busy}>{now ? <Trans>End {name} at once</Trans> : <Trans>End {name} on {end}</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Ends the subscription, or keeps it going where its end is set. */
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
    toast(t`${name} goes on`)
  }, t`The subscription still ends`)
  if (!may('billing.manage') || !canChange(subscription)) return null
  const end = subscription.cancel_at && format.day(subscription.cancel_at)
  return (
    <Section title={<Trans>End the subscription</Trans>}>
      {end
        ? (
            <Note icon="clock" title={<Trans>{name} ends on {end}</Trans>} actions={<Button busy={resume.busy} onClick={() => resume.run()}><Trans>Keep {name}</Trans></Button>}>
              <Trans>After that nothing is charged any more, and what the plan contains is off. Your data stays.</Trans>
            </Note>
          )
        : (
            <div className="danger-zone">
              <div>
                <p><Trans>You lose what {name} contains, with the end of the period or at once. Your data, your team and your invoices stay.</Trans></p>
                <Button look="danger" onClick={() => setAsking(true)}><Trans>End {name}</Trans></Button>
              </div>
            </div>
          )}
      {resume.problem}
      <Dialog open={asking} onClose={() => setAsking(false)} title={<Trans>When shall {name} end?</Trans>}>
        <CancelForm subscription={subscription} onClose={() => setAsking(false)} />
      </Dialog>
    </Section>
  )
}
