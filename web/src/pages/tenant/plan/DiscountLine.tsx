import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { useDiscountWords } from '../../../parts/discount'
import { refusedReason, useRefusalWords } from '../../../parts/PromotionCode'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { useHere, useRefresh } from '../shared/reads'

const path = '/api/v1/tenant/{tenantId}/subscription/promotion-code' as const
const changed = ['/subscription', '/audit-logs', '/timeline']

/** The discount of the subscription with its removal, or the action that adds a promotion code. */
export function DiscountLine({ subscription }: { subscription: Schema<'Subscription'> }) {
  const { t } = useLingui()
  const here = useHere()
  const refresh = useRefresh()
  const words = useDiscountWords()
  const [asked, setAsked] = useState<'add' | 'remove'>()
  const close = () => setAsked(undefined)
  const { discount } = subscription
  const code = discount?.code ?? ''
  return (
    <li>
      {discount
        ? <span><b className="mono">{code}</b> <span className="muted">{words(discount)}</span>{discount.name !== code && <small className="muted line">{discount.name}</small>}</span>
        : <span><Trans>No promotion code</Trans></span>}
      <span className="end">
        {discount
          ? <Button size="s" aria-label={t`Remove the promotion code ${code}`} onClick={() => setAsked('remove')}><Trans>Remove</Trans></Button>
          : <Button size="s" onClick={() => setAsked('add')}><Trans>Add promotion code</Trans></Button>}
      </span>
      <Dialog open={asked === 'add'} onClose={close} title={<Trans>Add promotion code</Trans>}>
        <AddForm subscription={subscription} onClose={close} />
      </Dialog>
      <Confirm
        open={asked === 'remove'} onClose={close} title={<Trans>Remove the promotion code {code}?</Trans>} action={<Trans>Remove code</Trans>}
        onConfirm={async () => {
          await api.DELETE(path, here)
          await refresh(...changed)
          toast(t`The promotion code was removed.`)
        }}
      >
        <p><Trans>You pay the full price from the next invoice. You may not be able to use this code again.</Trans></p>
      </Confirm>
    </li>
  )
}

function AddForm({ subscription, onClose }: { subscription: Schema<'Subscription'>; onClose: () => void }) {
  const { t } = useLingui()
  const here = useHere()
  const refresh = useRefresh()
  const explain = useRefusalWords()
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        try {
          await api.POST(path, { ...here, body: { promotion_code: String(values.promotion_code).trim() } })
        } catch (error) {
          const reason = refusedReason(error)
          if (!reason) throw error
          throw new ApiError(422, '', undefined, { promotion_code: [explain(reason, subscription.plan.name, subscription.currency)] })
        }
        await refresh(...changed)
        onClose()
        toast(t`The promotion code applies from the next invoice.`)
      }}
    >
      {({ busy }) => (
        <>
          <TextField name="promotion_code" label={t`Promotion code`} className="mono" maxLength={50} autoComplete="off" autoCapitalize="characters" spellCheck={false} help={t`It applies from the next invoice.`} data-autofocus />
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Apply code</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
