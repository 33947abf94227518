import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { FieldErrors } from '../../../ui/Field'
import { Icon } from '../../../ui/Icon'
import { Menu, MenuEntry } from '../../../ui/Menu'
import { currenciesQuery } from '../catalog/reads'

/** The price of a unit in a currency, as edited. */
export interface DraftMeterPrice {
  currency: string
  amount: string
  link: string
  saved?: Schema<'AdminMeterPrice'>
}

/**
 * Moves the decimal point of a number in a string, to the right if by is positive. This avoids
 * floats.
 */
function moved(text: string, by: number): string {
  const [whole = '', decimals = ''] = text.split('.')
  const digits = by < 0 ? whole.padStart(-by + 1, '0') + decimals : whole + decimals.padEnd(by, '0')
  const point = (by < 0 ? Math.max(whole.length, -by + 1) : whole.length) + by
  const left = digits.slice(0, point).replace(/^0+(?=\d)/, '')
  const right = digits.slice(point).replace(/0+$/, '')
  return right ? `${left}.${right}` : left
}

/** Formats a unit price for editing: 0.2 minor units are 0.002. */
export function writtenUnit(cents: number, digits: number): string {
  // String formats small numbers with an exponent; a unit price has at most twelve decimals.
  const plain = String(cents)
  return moved(plain.includes('e') ? cents.toFixed(12) : plain, -digits)
}

/** Parses input as minor units with decimals; undefined if it is not an amount. */
export function unitPrice(text: string, digits: number): number | undefined {
  const plain = text.trim().replace(/\s/g, '').replace(',', '.')
  if (!/^\d+(\.\d*)?$/.test(plain)) return undefined
  return Number(moved(plain, digits))
}

/** The price of a unit in each currency. A meter with a linked price is billed. */
export function MeterPrices({ prices, onChange }: { prices: DraftMeterPrice[]; onChange: (to: DraftMeterPrice[]) => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const errors = useContext(FieldErrors)
  const currencies = useQuery(currenciesQuery).data ?? []
  const free = currencies.filter((one) => !prices.some((price) => price.currency === one.code))
  const set = (i: number, change: Partial<DraftMeterPrice>) => onChange(prices.map((one, n) => (n === i ? { ...one, ...change } : one)))
  return (
    <div className="choices" role="group" aria-label={t`Prices`}>
      <div className="label-row">
        <span className="label"><Trans>Unit price</Trans> <span><Trans>optional</Trans></span></span>
        {free.length > 0 && (
          <Menu target={<Button size="s" look="quiet" icon="plus"><Trans>Add currency</Trans></Button>}>
            {free.map((one) => <MenuEntry key={one.code} onClick={() => onChange([...prices, { currency: one.code, amount: '', link: '' }])}>{format.currency(one.code)} ({one.code})</MenuEntry>)}
          </Menu>
        )}
      </div>
      {prices.map((one, i) => {
        const error = errors[`prices.${i}.unit_price_cents`]?.[0] ?? errors[`prices.${i}.psp_price_id`]?.[0]
        const name = format.currency(one.currency)
        return (
          <div key={one.currency} className="unit-price">
            <b>{one.currency}</b>
            <input className="input dense" name={`prices.${i}.unit_price_cents`} inputMode="decimal" placeholder="0.002" autoComplete="off" aria-label={t`Unit price in ${name}`} aria-invalid={error ? true : undefined} value={one.amount} onChange={(event) => set(i, { amount: event.target.value })} />
            <input className="input dense" name={`prices.${i}.psp_price_id`} placeholder="price_…" autoComplete="off" spellCheck={false} aria-label={t`Provider price ID in ${name}`} value={one.link} onChange={(event) => set(i, { link: event.target.value })} />
            <Button size="s" look="quiet" icon="x" aria-label={t`Remove ${name}`} onClick={() => onChange(prices.filter((_, n) => n !== i))} />
            {error && <p className="error"><Icon name="alert" />{error}</p>}
          </div>
        )
      })}
      <p className="help"><Trans>With the ID of a metered price at the provider, usage of this meter is billed in usage-based plans.</Trans></p>
    </div>
  )
}
