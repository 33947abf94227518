import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { catalogKey } from '../catalog/reads'
import { atField } from './mismatches'

type Price = Schema<'AdminPrice'>

/** Returns the actions for a saved price at the payment provider. */
export function usePriceActions(plan: Schema<'AdminPlan'>, price: Price | undefined) {
  const queries = useQueryClient()
  const params = { path: { plan: plan.id, price: price?.id ?? '' } }
  const reload = () => queries.invalidateQueries({ queryKey: catalogKey })
  const onError = (error: Error) => toast(error.message)
  const makeOne = () => api.POST('/api/v1/admin/plans/{plan}/prices/{price}/psp-create', { params, body: { product_id: plan.product_id } })
  const unlinkIt = () => api.POST('/api/v1/admin/plans/{plan}/prices/{price}/psp-unlink', { params })
  const create = useMutation({ mutationFn: makeOne, onSuccess: async () => { await reload(); toast(<Trans>The price was created at the payment provider.</Trans>) }, onError })
  const unlink = useMutation({ mutationFn: unlinkIt, onSuccess: async () => { await reload(); toast(<Trans>The price was unlinked. It still exists at the provider.</Trans>) }, onError })
  return { create, unlink, makeOne, unlinkIt, reload, params }
}

function IdField() {
  const { t } = useLingui()
  return <TextField name="psp_price_id" label={t`Price ID at the provider`} placeholder="price_…" autoComplete="off" spellCheck={false} data-autofocus />
}

export function LinkPrice({ plan, price, open, onClose }: { plan: Schema<'AdminPlan'>; price: Price; open: boolean; onClose: () => void }) {
  const { params, reload } = usePriceActions(plan, price)
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Link the price in {price.currency}</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          await api.POST('/api/v1/admin/plans/{plan}/prices/{price}/psp-link', { params, body: { psp_price_id: String(values.psp_price_id).trim() } }).catch((error: unknown) => atField(error, 'psp_price_id'))
          await reload()
          onClose()
        }}
      >
        {({ busy }) => (
          <>
            <p className="flat"><Trans>It must have the same amount, currency and interval, and be active at the provider.</Trans></p>
            <IdField />
            <div className="acts"><Button onClick={onClose}><Trans>Cancel</Trans></Button><Button type="submit" look="primary" busy={busy}><Trans>Link price</Trans></Button></div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Repairs a mismatched link with a new price at the provider or a different one. */
export function RepairPrice({ plan, price, status, open, onClose, onLink }: {
  plan: Schema<'AdminPlan'>; price: Price; status?: Schema<'AdminPriceStatus'>; open: boolean; onClose: () => void; onLink: () => void
}) {
  const { makeOne, unlinkIt, reload } = usePriceActions(plan, price)
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Repair price in {price.currency}</Trans>}>
      <Form
        className="stack"
        onSubmit={async () => {
          await unlinkIt()
          await reload()
          await makeOne()
          await reload()
          onClose()
          toast(<Trans>A new price was created at the payment provider.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            <div className="dialog-text">
              <p>{status?.message}</p>
              <p><Trans>Until this is repaired, the plan cannot be bought in {price.currency}. Existing customers keep paying as before.</Trans></p>
              <p><Trans>A new price with your amount is created there. The old price stays there but is no longer used.</Trans></p>
            </div>
            <div className="acts">
              <Button onClick={() => void unlinkIt().then(reload).then(onLink, (error: Error) => toast(error.message))}><Trans>Link another price</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Create new price</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Imports a price from the provider, in a currency that the plan does not have yet. */
export function ImportPrice({ plan, open, onClose }: { plan: Schema<'AdminPlan'>; open: boolean; onClose: () => void }) {
  const queries = useQueryClient()
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Import a price from the provider</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          await api.POST('/api/v1/admin/plans/{plan}/prices/psp-import', { params: { path: { plan: plan.id } }, body: { psp_price_id: String(values.psp_price_id).trim() } }).catch((error: unknown) => atField(error, 'psp_price_id'))
          await queries.invalidateQueries({ queryKey: catalogKey })
          onClose()
        }}
      >
        {({ busy }) => (
          <>
            <p className="flat"><Trans>Its currency and amount become a price of this plan. It must have the plan’s interval and a currency in which the plan has no price yet.</Trans></p>
            <IdField />
            <div className="acts"><Button onClick={onClose}><Trans>Cancel</Trans></Button><Button type="submit" look="primary" busy={busy}><Trans>Import price</Trans></Button></div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
