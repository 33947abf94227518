import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { address, api, ApiError, type Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { useMay, useSettings, useTenant } from '../../../app/session'
import { Button, ButtonLink } from '../../../ui/Button'
import { CurrencyChoice } from '../../../ui/CurrencyChoice'
import { Dialog } from '../../../ui/Dialog'
import { Stepper } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import type { Gauge } from '../home/meters'
import { useSubscription } from '../shared/reads'
import { useWords } from '../shared/words'

type Pack = Schema<'PublicPack'>

interface Props {
  packs: Pack[]
  gauges: Gauge[]
  open: boolean
  onClose: () => void
}

/** Buys prepaid units on the payment page. */
export function BuyPack(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={<Trans>Buy a pack</Trans>} wide>
      {props.packs.length > 0 && <Body {...props} />}
    </Dialog>
  )
}

function Body({ packs, gauges, onClose }: Props) {
  const { t } = useLingui()
  const words = useWords()
  const format = useFormat()
  const may = useMay()
  const { id, preferred_currency } = useTenant()
  const { default_currency } = useSettings()
  const subscribed = useSubscription().data?.data?.currency
  const currencies = [...new Set(packs.flatMap((one) => one.prices.map((price) => price.currency)))].sort()
  const wished = [subscribed, preferred_currency, default_currency].find((one) => one && currencies.includes(one)) ?? currencies[0]!
  const [currency, setCurrency] = useState(wished)
  const sold = packs.filter((one) => one.prices.some((price) => price.currency === currency))
  const [slug, setSlug] = useState<string>()
  const [quantity, setQuantity] = useState(1)
  const [incomplete, setIncomplete] = useState(false)
  const chosen = sold.find((one) => one.slug === slug) ?? sold[0]!
  const priceOf = (pack: Pack) => pack.prices.find((one) => one.currency === currency)!.price_cents
  const meterOf = (pack: Pack) => gauges.find((one) => one.code === pack.feature_code)
  const total = format.money(priceOf(chosen) * quantity, currency)

  async function buy() {
    setIncomplete(false)
    const units = String(chosen.amount * quantity)
    const back = (search: Record<string, string>) => address(`/plan/usage?${new URLSearchParams(search)}`)
    try {
      const answer = await api.POST('/api/v1/tenant/{tenantId}/packs/{slug}/checkout', {
        params: { path: { tenantId: id, slug: chosen.slug } },
        body: { currency, quantity, success_url: back({ pack: chosen.slug, units, since: String(now()) }), cancel_url: back({ pack: 'left' }) },
      })
      location.assign(answer.data!.data.url)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'billing_not_ready') throw error
      setIncomplete(true)
    }
  }
  return (
    <Form className="stack" onSubmit={buy}>
      {({ busy }) => (
        <>
          <p className="flat"><Trans>Prepaid units are used when your plan’s limit is reached.</Trans></p>
          <div className="opts" role="radiogroup" aria-label={t`Pack`}>
            {sold.map((pack) => {
              const each = format.unitPrice(Number((priceOf(pack) / pack.amount).toPrecision(6)), currency)
              const amount = words.quantity(pack.amount, meterOf(pack)?.unit ?? null)
              return (
                <label key={pack.slug} className={`opt ${pack === chosen ? 'is-on' : ''}`}>
                  <span className="check">
                    <input type="radio" name="pack" value={pack.slug} checked={pack === chosen} onChange={() => setSlug(pack.slug)} />
                    <span>
                      <b>{pack.name}</b>
                      <small>
                        {meterOf(pack) ? `${amount} · ${meterOf(pack)!.name}. ` : `${amount}. `}<Trans>{each} each.</Trans>{' '}
                        {pack.expires_after_days === null ? <Trans>Never expires.</Trans> : <Plural value={pack.expires_after_days} one="Expires after # day." other="Expires after # days." />}
                      </small>
                      {pack.description && <small>{pack.description}</small>}
                    </span>
                  </span>
                  <span className="tnum nowrap">{format.money(priceOf(pack), currency)}</span>
                </label>
              )
            })}
          </div>
          {!subscribed && currencies.length > 1 && <div className="r-row"><span><Trans>Currency</Trans></span><CurrencyChoice currencies={currencies} value={currency} onChange={setCurrency} /></div>}
          <div className="r-row">
            <span><Trans>Quantity</Trans></span>
            <Stepper value={quantity} onChange={setQuantity} max={100} label={t`Quantity`} fewer={t`Remove a pack`} more={t`Add a pack`} />
          </div>
          {incomplete && (
            <Note tone="warn" role="status" title={<Trans>Add your billing details before you buy a pack.</Trans>} actions={may('tenant.update') && <ButtonLink size="s" to="/settings" hash="billing"><Trans>Add billing details</Trans></ButtonLink>}>
              <Trans>They are on the invoice.</Trans>
            </Note>
          )}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy} disabled={quantity < 1}><Trans>Pay {total}</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
