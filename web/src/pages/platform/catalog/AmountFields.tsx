import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { FieldErrors } from '../../../ui/Field'
import { Icon } from '../../../ui/Icon'
import { Menu, MenuEntry } from '../../../ui/Menu'
import type { DraftPrice } from '../plan/draft'
import { currenciesQuery } from './reads'

/** An amount in each currency. name and part are the fields of the request: prices, price_cents. */
export function AmountFields({ name, part, label, labelIn, amounts, onChange }: {
  name: string; part: string; label: string
  /** The label of the amount in a currency. */
  labelIn: (currency: string) => string
  amounts: DraftPrice[]; onChange: (to: DraftPrice[]) => void
}) {
  const { t } = useLingui()
  const format = useFormat()
  const errors = useContext(FieldErrors)
  const currencies = useQuery(currenciesQuery).data ?? []
  const free = currencies.filter((one) => one.is_active && !amounts.some((amount) => amount.currency === one.code))
  return (
    <div className="choices" role="group" aria-label={label}>
      <div className="label-row">
        <span className="label">{label}</span>
        {free.length > 0 && (
          <Menu target={<Button size="s" look="quiet" icon="plus"><Trans>Add currency</Trans></Button>}>
            {free.map((one) => <MenuEntry key={one.code} onClick={() => onChange([...amounts, { currency: one.code, amount: '' }])}>{format.currency(one.code)} ({one.code})</MenuEntry>)}
          </Menu>
        )}
      </div>
      {errors[name] && <p className="error"><Icon name="alert" />{errors[name][0]}</p>}
      {amounts.map((one, i) => {
        const error = errors[`${name}.${i}.${part}`]?.[0] ?? errors[`${name}.${i}.currency`]?.[0]
        const currency = format.currency(one.currency)
        return (
          <div key={one.currency} className="unit-price pack-price">
            <b>{one.currency}</b>
            <input
              className="input dense" name={`${name}.${i}.${part}`} inputMode="decimal" placeholder="25.00" autoComplete="off" aria-label={labelIn(currency)} aria-invalid={error ? true : undefined}
              value={one.amount} onChange={(event) => onChange(amounts.map((amount, n) => (n === i ? { ...amount, amount: event.target.value } : amount)))}
            />
            <Button size="s" look="quiet" icon="x" aria-label={t`Remove ${currency}`} onClick={() => onChange(amounts.filter((_, n) => n !== i))} />
            {error && <p className="error"><Icon name="alert" />{error}</p>}
          </div>
        )
      })}
    </div>
  )
}
