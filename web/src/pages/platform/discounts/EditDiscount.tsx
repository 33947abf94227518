import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Copy } from '../../../ui/Copy'
import { Dialog } from '../../../ui/Dialog'
import { Check } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { allProductsQuery, catalogKey } from '../catalog/reads'
import { TextFields } from '../catalog/TextFields'
import { nameIn, sent, textsOf } from '../catalog/texts'
import { usePlatformMay } from '../may'
import { useDiscountWords } from './words'

/** Returns the names of the plans of a code; undefined for all plans. */
export function usePlanNames(ids: string[]): string | undefined {
  const { i18n } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const plans = (useQuery({ ...allProductsQuery, enabled: may('products.view') }).data ?? []).flatMap((one) => one.plans ?? [])
  if (ids.length === 0) return undefined
  return format.list(ids.map((id) => plans.find((plan) => plan.id === id)).map((plan) => (plan ? nameIn(plan.translations, i18n.locale) : '–')))
}

/** Shows the conditions of a code and changes its name and its status. */
export function EditDiscount({ of, open, onClose }: { of: Schema<'AdminDiscount'>; open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Promotion code {of.code}</Trans>} wide>
      <Body of={of} onClose={onClose} />
    </Dialog>
  )
}

function Body({ of, onClose }: { of: Schema<'AdminDiscount'>; onClose: () => void }) {
  const words = useDiscountWords()
  const format = useFormat()
  const queries = useQueryClient()
  const plans = usePlanNames(of.plan_ids)
  const [texts, setTexts] = useState(textsOf(of.translations))
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        await api.PATCH('/api/v1/admin/discounts/{discount}', { params: { path: { discount: of.id } }, body: { name: sent(texts).name, is_active: values.is_active === true } })
        await queries.invalidateQueries({ queryKey: catalogKey })
        onClose()
        toast(<Trans>The promotion code {of.code} was saved.</Trans>)
      }}
    >
      {({ busy }) => (
        <>
          <dl className="dl">
            <div><dt><Trans>Code</Trans></dt><dd><Copy text={of.code} whole /></dd></div>
            <div><dt><Trans>Discount</Trans></dt><dd>{words.off(of)}<small className="block">{words.lasts(of)}</small></dd></div>
            <div><dt><Trans>Plans</Trans></dt><dd>{plans ?? <Trans>All plans</Trans>}{of.first_purchase_only && <small className="block"><Trans>First purchase only</Trans></small>}</dd></div>
            <div><dt><Trans>Valid</Trans></dt><dd>{words.valid(of)}</dd></div>
            <div><dt><Trans>Redemptions</Trans></dt><dd>{words.redeemed(of)}<small className="block">{of.max_per_tenant === null ? <Trans>No limit per tenant</Trans> : <Trans>At most {format.number(of.max_per_tenant)} per tenant</Trans>}</small></dd></div>
          </dl>
          <div className="field"><span className="label"><Trans>Name on receipts</Trans></span><TextFields names texts={texts} onChange={setTexts} /></div>
          <Check name="is_active" defaultChecked={of.is_active} small={<Trans>If this is off, the code is rejected. Discounts that are already in use continue.</Trans>}><Trans context="a code">Active</Trans></Check>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Save</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
