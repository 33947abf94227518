import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Check, SelectField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { slugOf } from '../catalog/texts'
import { useDigits } from '../plan/digits'
import { atField } from '../plan/mismatches'
import { MeterPrices, unitPrice, writtenUnit, type DraftMeterPrice } from './MeterPrices'
import { aggregations, aggregationWord, enforcements, enforcementWord, resets, resetWord } from './words'

interface Props {
  /** The meter to change; undefined creates one. */
  of?: Schema<'AdminMeter'>
  open: boolean
  onClose: () => void
}

/** Creates a meter or changes its rules. */
export function MeterForm(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.of ? <Trans>Edit meter</Trans> : <Trans>New meter</Trans>} wide>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ of, onClose }: Props) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const digits = useDigits()
  const [name, setName] = useState(of?.name ?? '')
  const [code, setCode] = useState(of?.code)
  const [prices, setPrices] = useState<DraftMeterPrice[]>((of?.prices ?? []).map((one) => ({
    currency: one.currency, amount: writtenUnit(one.unit_price_cents, digits(one.currency)), link: one.psp_price_id ?? '', saved: one,
  })))
  const shown = code ?? slugOf(name)

  async function save(values: Values) {
    const read = prices.map((one) => unitPrice(one.amount, digits(one.currency)))
    const wrong = read.findIndex((one) => one === undefined)
    if (wrong >= 0) throw new ApiError(422, '', undefined, { [`prices.${wrong}.unit_price_cents`]: [t`Enter an amount, such as 0.002.`] })
    const body = {
      name: name.trim(), code: shown, unit_label: String(values.unit_label).trim() || null, is_active: values.is_active === true,
      aggregation_type: String(values.aggregation_type) as Schema<'Aggregation'>, reset_interval: String(values.reset_interval) as Schema<'ResetInterval'>,
      quota_enforcement: String(values.quota_enforcement) as Schema<'QuotaEnforcement'>,
      // An unchanged link is omitted, so the link stays as long as the amount does.
      prices: prices.map((one, i) => ({ currency: one.currency, unit_price_cents: read[i]!, ...(one.link.trim() !== (one.saved?.psp_price_id ?? '') ? { psp_price_id: one.link.trim() || null } : {}) })),
    }
    // The error of a link does not name its price. Assume the last changed one.
    const linked = Math.max(0, prices.findLastIndex((one, i) => one.link.trim() && (one.link.trim() !== (one.saved?.psp_price_id ?? '') || read[i] !== one.saved?.unit_price_cents)))
    const saved = of ? api.PATCH('/api/v1/admin/meters/{meter}', { params: { path: { meter: of.id } }, body }) : api.POST('/api/v1/admin/meters', { body })
    await saved.catch((error: unknown) => atField(error, `prices.${linked}.psp_price_id`))
    await queries.invalidateQueries({ queryKey: ['meters'] })
    onClose()
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          <div className="two">
            <TextField name="name" label={t`Name`} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" help={t`The name that customers see.`} data-autofocus />
            <TextField name="unit_label" label={t`Unit`} hint={t`optional`} defaultValue={of?.unit_label ?? ''} autoComplete="off" help={t`For example, calls or GB.`} />
          </div>
          <TextField name="code" label={t`Code`} value={shown} onChange={(event) => setCode(event.target.value)} autoComplete="off" help={t`Your application uses this code to record usage. A feature with the same code sets the limit.`} />
          <div className="two">
            <SelectField name="aggregation_type" label={t`Aggregation`} defaultValue={of?.aggregation_type ?? 'sum'} help={of && t`Changing this recalculates all stored events.`}>
              {aggregations.map((one) => <option key={one} value={one}>{aggregationWord(one)}</option>)}
            </SelectField>
            <SelectField name="reset_interval" label={t`Resets`} defaultValue={of?.reset_interval ?? 'monthly'}>
              {resets.map((one) => <option key={one} value={one}>{resetWord(one)}</option>)}
            </SelectField>
          </div>
          <SelectField name="quota_enforcement" label={t`At the limit`} defaultValue={of?.quota_enforcement ?? 'hard'}>
            {enforcements.map((one) => <option key={one} value={one}>{enforcementWord(one)}</option>)}
          </SelectField>
          <MeterPrices prices={prices} onChange={setPrices} />
          <Check name="is_active" defaultChecked={of?.is_active ?? true} small={<Trans>If this is off, customers do not see the meter and usage is not recorded.</Trans>}><Trans context="meter">Active</Trans></Check>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{of ? <Trans>Save</Trans> : <Trans>Create meter</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
