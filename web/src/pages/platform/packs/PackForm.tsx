import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useSettings } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Check, SelectField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { AmountFields } from '../catalog/AmountFields'
import { catalogKey } from '../catalog/reads'
import { TextFields } from '../catalog/TextFields'
import { sent, slugOf, textsOf } from '../catalog/texts'
import { usePlatformMay } from '../may'
import { useDigits } from '../plan/digits'
import { minorUnits, written, type DraftPrice } from '../plan/draft'
import { metersQuery } from '../tenant/reads'

interface Props {
  /** The pack to change; undefined creates one. */
  of?: Schema<'AdminPack'>
  open: boolean
  onClose: () => void
}

/** Creates a pack of prepaid units or changes it. */
export function PackForm(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.of ? <Trans>Edit pack</Trans> : <Trans>New pack</Trans>} wide>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ of, onClose }: Props) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const digits = useDigits()
  const may = usePlatformMay()
  const { default_currency } = useSettings()
  const meters = (useQuery({ ...metersQuery, enabled: may('meters.manage') }).data ?? []).filter((one) => one.aggregation_type === 'sum' || one.aggregation_type === 'count')
  const [texts, setTexts] = useState(textsOf(of?.translations))
  const [slug, setSlug] = useState(of?.slug)
  const [amount, setAmount] = useState(of ? format.number(of.amount) : '')
  const [days, setDays] = useState(of?.expires_after_days ? format.number(of.expires_after_days) : '')
  const [prices, setPrices] = useState<DraftPrice[]>(of
    ? of.prices.map((one) => ({ currency: one.currency, amount: written(one.price_cents, digits(one.currency)) }))
    : [{ currency: default_currency, amount: '' }])
  const shown = slug ?? slugOf(texts.en.name)

  async function save(values: Values) {
    const fields: Record<string, string[]> = {}
    const units = format.parse(amount, 6)
    const expires = days.trim() ? format.parse(days) : null
    if (units === undefined || units <= 0) fields.amount = [t`Enter a number above 0 with at most six decimals.`]
    if (expires === undefined || expires === 0) fields.expires_after_days = [t`Enter a whole number of days, or leave the field empty.`]
    const cents = prices.map((one, i) => {
      const found = minorUnits(one.amount, digits(one.currency))
      if (!found) fields[`prices.${i}.price_cents`] = [t`Enter an amount above 0.`]
      return { currency: one.currency, price_cents: found ?? 0 }
    })
    if (Object.keys(fields).length > 0) throw new ApiError(422, '', undefined, fields)
    const body = {
      ...sent(texts), slug: shown, feature_code: String(values.feature_code).trim(), amount: units!, expires_after_days: expires, prices: cents, is_active: values.is_active === true,
    }
    if (of) await api.PATCH('/api/v1/admin/packs/{pack}', { params: { path: { pack: of.id } }, body })
    else await api.POST('/api/v1/admin/packs', { body })
    await queries.invalidateQueries({ queryKey: catalogKey })
    onClose()
    toast(of ? <Trans>The pack was saved.</Trans> : <Trans>The pack was created.</Trans>)
  }
  const known = meters.some((one) => one.code === of?.feature_code)
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          <TextFields texts={texts} onChange={setTexts} />
          <div className="two">
            <TextField name="slug" label={t`Short name`} value={shown} onChange={(event) => setSlug(event.target.value)} autoComplete="off" help={t`Identifies it in the API and the catalog file.`} />
            {meters.length > 0
              ? (
                  <SelectField name="feature_code" label={t`Meter`} defaultValue={of?.feature_code} help={t`Meters that add up or count usage.`}>
                    {of && !known && <option value={of.feature_code}>{of.feature_code}</option>}
                    {meters.map((one) => <option key={one.id} value={one.code}>{one.name}</option>)}
                  </SelectField>
                )
              : <TextField name="feature_code" label={t`Code of the meter`} defaultValue={of?.feature_code} autoComplete="off" />}
            <TextField name="amount" label={t`Units`} inputMode="decimal" value={amount} onChange={(event) => setAmount(event.target.value)} autoComplete="off" />
            <TextField name="expires_after_days" label={t`Expires after (days)`} hint={t`optional`} inputMode="numeric" value={days} onChange={(event) => setDays(event.target.value)} autoComplete="off" help={t`Counted from the payment. Empty for never.`} />
          </div>
          <AmountFields name="prices" part="price_cents" label={t`Price of a pack`} labelIn={(currency) => t`Price in ${currency}`} amounts={prices} onChange={setPrices} />
          <Check name="is_active" defaultChecked={of?.is_active ?? true} small={<Trans>If this is off, customers cannot buy the pack. Units that they have bought stay.</Trans>}><Trans>On sale</Trans></Check>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{of ? <Trans>Save</Trans> : <Trans>Create pack</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
