import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { FieldErrors } from '../../../ui/Field'
import { Icon } from '../../../ui/Icon'
import { Menu, MenuEntry } from '../../../ui/Menu'
import { currenciesQuery } from '../catalog/reads'
import type { DraftPrice } from '../plan/draft'

/** The price of a pack in each currency. */
export function PackPrices({ prices, onChange }: { prices: DraftPrice[]; onChange: (to: DraftPrice[]) => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const errors = useContext(FieldErrors)
  const currencies = useQuery(currenciesQuery).data ?? []
  const free = currencies.filter((one) => one.is_active && !prices.some((price) => price.currency === one.code))
  return (
    <div className="choices" role="group" aria-label={t`Prices`}>
      <div className="label-row">
        <span className="label"><Trans>Price of a pack</Trans></span>
        {free.length > 0 && (
          <Menu target={<Button size="s" look="quiet" icon="plus"><Trans>Add currency</Trans></Button>}>
            {free.map((one) => <MenuEntry key={one.code} onClick={() => onChange([...prices, { currency: one.code, amount: '' }])}>{format.currency(one.code)} ({one.code})</MenuEntry>)}
          </Menu>
        )}
      </div>
      {errors.prices && <p className="error"><Icon name="alert" />{errors.prices[0]}</p>}
      {prices.map((one, i) => {
        const error = errors[`prices.${i}.price_cents`]?.[0] ?? errors[`prices.${i}.currency`]?.[0]
        const name = format.currency(one.currency)
        return (
          <div key={one.currency} className="unit-price pack-price">
            <b>{one.currency}</b>
            <input
              className="input dense" name={`prices.${i}.price_cents`} inputMode="decimal" placeholder="25.00" autoComplete="off" aria-label={t`Price in ${name}`} aria-invalid={error ? true : undefined}
              value={one.amount} onChange={(event) => onChange(prices.map((price, n) => (n === i ? { ...price, amount: event.target.value } : price)))}
            />
            <Button size="s" look="quiet" icon="x" aria-label={t`Remove ${name}`} onClick={() => onChange(prices.filter((_, n) => n !== i))} />
            {error && <p className="error"><Icon name="alert" />{error}</p>}
          </div>
        )
      })}
    </div>
  )
}
