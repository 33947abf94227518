import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { catalogKey } from './reads'
import { slugOf } from './texts'

interface Props {
  product: Schema<'AdminProduct'>
  open: boolean
  onClose: () => void
}

/** Creates a plan with the required fields. The rest is edited before the plan goes on sale. */
export function NewPlan(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={<Trans>New plan</Trans>}>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ product, onClose }: Props) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string>()

  async function make(values: Values) {
    const order = Math.max(0, ...(product.plans ?? []).map((one) => one.sort_order)) + 10
    const made = (await api.POST('/api/v1/admin/plans', {
      body: {
        product_id: product.id, name: { en: name.trim() }, slug: slug ?? slugOf(name), is_active: false, sort_order: order, trial_days: 0,
        billing_cycle: String(values.billing_cycle) as Schema<'BillingCycle'>, pricing_type: String(values.pricing_type) as Schema<'PricingType'>,
      },
    })).data!.data
    await queries.invalidateQueries({ queryKey: catalogKey })
    onClose()
    await navigate({ to: '/platform/catalog/plans/$planId', params: { planId: made.id } })
  }
  return (
    <Form className="stack" onSubmit={make}>
      {({ busy }) => (
        <>
          <TextField name="name.en" label={t`Name in English`} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" data-autofocus />
          <TextField name="slug" label={t`Short name`} value={slug ?? slugOf(name)} onChange={(event) => setSlug(event.target.value)} autoComplete="off" />
          <SelectField name="pricing_type" label={t`Pricing model`} defaultValue="flat" help={t`Cannot be changed after the first subscription.`}>
            <option value="flat">{t`flat rate`}</option>
            <option value="seat">{t`per seat`}</option>
            <option value="usage">{t`base price plus usage`}</option>
          </SelectField>
          <SelectField name="billing_cycle" label={t`Billing interval`} defaultValue="monthly">
            <option value="weekly">{t`every week`}</option>
            <option value="monthly">{t`every month`}</option>
            <option value="quarterly">{t`every three months`}</option>
            <option value="yearly">{t`every year`}</option>
          </SelectField>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Continue to prices</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
