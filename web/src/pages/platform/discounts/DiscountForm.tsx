import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useSettings } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Choices } from '../../../ui/Choices'
import { Dialog } from '../../../ui/Dialog'
import { Check, Segments, SelectField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { AmountFields } from '../catalog/AmountFields'
import { allProductsQuery, catalogKey } from '../catalog/reads'
import { TextFields } from '../catalog/TextFields'
import { nameIn, sent, textsOf } from '../catalog/texts'
import { usePlatformMay } from '../may'
import { useDigits } from '../plan/digits'
import { minorUnits, type DraftPrice } from '../plan/draft'
import { endOfDay, today } from '../tenant/limits'

/** The plans that can have a discount, with the product's name if there are several products. */
function usePlans(): { value: string; label: string }[] {
  const { i18n } = useLingui()
  const may = usePlatformMay()
  const products = useQuery({ ...allProductsQuery, enabled: may('products.view') }).data ?? []
  const named = products.length > 1
  return products.flatMap((product) => (product.plans ?? []).filter((plan) => plan.prices.some((price) => price.price_cents > 0)).map((plan) => {
    const name = nameIn(plan.translations, i18n.locale)
    return { value: plan.id, label: named ? `${nameIn(product.translations, i18n.locale)}: ${name}` : name }
  }))
}

/** Creates a promotion code. Its discount and its conditions cannot be changed later. */
export function DiscountForm({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>New promotion code</Trans>} wide>
      <Body onClose={onClose} />
    </Dialog>
  )
}

type Kind = 'percent' | 'amount'
type Duration = Schema<'AdminDiscount'>['duration']

function Body({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const digits = useDigits()
  const plans = usePlans()
  const { default_currency } = useSettings()
  const [texts, setTexts] = useState(textsOf())
  const [code, setCode] = useState('')
  const [kind, setKind] = useState<Kind>('percent')
  const [amounts, setAmounts] = useState<DraftPrice[]>([{ currency: default_currency, amount: '' }])
  const [duration, setDuration] = useState<Duration>('once')
  const [chosen, setChosen] = useState<string[]>([])

  /** Returns the request. It throws the errors of numbers that are not valid. */
  function requestOf(values: Values) {
    const fields: Record<string, string[]> = {}
    const text = (name: string) => String(values[name] ?? '').trim()
    const whole = (name: string) => {
      const found = text(name) ? format.parse(text(name)) : null
      if (found === undefined || found === 0) fields[name] = [t`Enter a whole number above 0, or leave the field empty.`]
      return found || null
    }
    const percent = kind === 'percent' ? format.parse(text('percent_off').replace('%', ''), 2) : null
    if (percent === undefined || (percent !== null && (percent <= 0 || percent > 100))) fields.percent_off = [t`Enter a percentage above 0 and up to 100, with at most two decimals.`]
    const cents = amounts.map((one, i) => {
      const found = minorUnits(one.amount, digits(one.currency))
      if (kind === 'amount' && !found) fields[`amounts.${i}.amount_cents`] = [t`Enter an amount above 0.`]
      return { currency: one.currency, amount_cents: found ?? 0 }
    })
    const months = duration === 'repeating' ? format.parse(text('months')) : null
    if (months === undefined || months === 0) fields.months = [t`Enter a number of months, from 1 to 120.`]
    const limits = { max_redemptions: whole('max_redemptions'), max_per_tenant: whole('max_per_tenant') }
    if (Object.keys(fields).length > 0) throw new ApiError(422, '', undefined, fields)
    return {
      code: code.trim(), name: sent(texts).name, duration, months, ...limits, plan_ids: chosen, first_purchase_only: values.first_purchase_only === true, is_active: values.is_active === true,
      ...(kind === 'percent' ? { percent_off: percent } : { amounts: cents }),
      starts_at: text('starts_at') ? new Date(`${text('starts_at')}T00:00:00`).toISOString() : null, ends_at: text('ends_at') ? endOfDay(text('ends_at')) : null,
    }
  }
  async function save(values: Values) {
    const { data } = (await api.POST('/api/v1/admin/discounts', { body: requestOf(values) })).data!
    await queries.invalidateQueries({ queryKey: catalogKey })
    onClose()
    toast(<Trans>The promotion code {data.code} was created.</Trans>)
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          <TextField name="code" label={t`Code`} className="mono" value={code} onChange={(event) => setCode(event.target.value.toUpperCase())} maxLength={50} autoComplete="off" spellCheck={false} help={t`Customers enter it in any case. Letters, digits and hyphens.`} data-autofocus />
          <div className="field"><span className="label"><Trans>Name on receipts</Trans></span><TextFields names texts={texts} onChange={setTexts} /></div>
          <div className="field" role="group" aria-labelledby="discount-label">
            <span className="label" id="discount-label"><Trans>Discount</Trans></span>
            <Segments label={t`Kind of discount`} value={kind} onChange={setKind} options={[{ value: 'percent', label: t`Percentage` }, { value: 'amount', label: t`Amount` }]} />
            {kind === 'percent'
              ? <div className="two"><TextField name="percent_off" label={t`Percentage off`} inputMode="decimal" autoComplete="off" placeholder="25" /></div>
              : <AmountFields name="amounts" part="amount_cents" label={t`Amount off`} labelIn={(currency) => t`Amount off in ${currency}`} amounts={amounts} onChange={setAmounts} />}
          </div>
          <div className="two">
            <SelectField name="duration" label={t`Applies to`} value={duration} onChange={(event) => setDuration(event.target.value as Duration)} help={duration === 'repeating' ? t`A yearly plan has the discount for its whole first year.` : undefined}>
              <option value="once">{t`The first invoice`}</option>
              <option value="repeating">{t`Invoices for a number of months`}</option>
              <option value="forever">{t`Every invoice`}</option>
            </SelectField>
            {duration === 'repeating' && <TextField name="months" label={t`Months`} inputMode="numeric" autoComplete="off" defaultValue="3" />}
          </div>
          {plans.length > 0 && <Choices name="plan_ids" label={t`Plans`} hint={t`all plans if none is selected`} options={plans} value={chosen} onChange={setChosen} columns />}
          <div className="two">
            <TextField name="max_redemptions" label={t`Total redemptions`} hint={t`optional`} inputMode="numeric" autoComplete="off" help={t`Empty for no limit.`} />
            <TextField name="max_per_tenant" label={t`Redemptions per tenant`} inputMode="numeric" autoComplete="off" defaultValue="1" help={t`Empty for no limit.`} />
            <TextField name="starts_at" type="date" label={t`First day`} hint={t`optional`} />
            <TextField name="ends_at" type="date" label={t`Last day`} hint={t`optional`} min={today()} help={t`Discounts that are already in use continue.`} />
          </div>
          <Check name="first_purchase_only" small={<Trans>Only tenants that have not paid an invoice yet can use it.</Trans>}><Trans>First purchase only</Trans></Check>
          <Check name="is_active" defaultChecked small={<Trans>If this is off, the code is rejected.</Trans>}><Trans context="a code">Active</Trans></Check>
          <p className="help"><Trans>Only the name and the status can be changed later.</Trans></p>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Create promotion code</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
