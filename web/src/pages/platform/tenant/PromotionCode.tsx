import { Trans, useLingui } from '@lingui/react/macro'
import { api, ApiError, type Schema } from '../../../api/client'
import { refusedReason } from '../../../parts/PromotionCode'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { useReasonWords } from '../subscribe/CodeField'
import { useSaved } from './useSaved'

interface Props {
  of: Schema<'Subscription'>
  tenant: Schema<'AdminTenant'>
  open: boolean
  onClose: () => void
}

const path = '/api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/promotion-code' as const
const at = ({ of, tenant }: Props) => ({ params: { path: { tenant: tenant.id, subscription: of.id } } })

/** Applies a promotion code to a running subscription. */
export function AddCode(props: Props) {
  const { t } = useLingui()
  const { of, open, onClose } = props
  const explain = useReasonWords()
  const saved = useSaved(onClose)
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Add promotion code</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          const code = String(values.promotion_code).trim()
          try {
            await api.POST(path, { ...at(props), body: { promotion_code: code } })
          } catch (error) {
            const reason = refusedReason(error)
            if (!reason) throw error
            throw new ApiError(422, '', undefined, { promotion_code: [explain(reason, code, of.plan.name, of.currency)] })
          }
          await saved(<Trans>The promotion code applies from the next invoice.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            <TextField name="promotion_code" label={t`Promotion code`} className="mono" maxLength={50} autoComplete="off" autoCapitalize="characters" spellCheck={false} help={t`It applies from the next invoice of ${of.plan.name}.`} data-autofocus />
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Apply code</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Removes the discount of a subscription. */
export function RemoveCode(props: Props) {
  const { of, tenant, open, onClose } = props
  const saved = useSaved(onClose)
  const code = of.discount?.code ?? ''
  return (
    <Confirm
      open={open} onClose={onClose} title={<Trans>Remove the promotion code {code}?</Trans>} action={<Trans>Remove code</Trans>}
      onConfirm={async () => {
        await api.DELETE(path, at(props))
        await saved(<Trans>The promotion code was removed.</Trans>)
      }}
    >
      <p><Trans>{tenant.name} pays the full price from the next invoice. The redemption still counts.</Trans></p>
    </Confirm>
  )
}
