import { Trans, useLingui } from '@lingui/react/macro'
import { useFormat } from '../app/format'

/** Selects the currency of plan prices. */
export function CurrencyChoice({ currencies, value, onChange }: { currencies: string[]; value: string; onChange: (currency: string) => void }) {
  const { t } = useLingui()
  const format = useFormat()
  if (currencies.length < 2) return null
  return (
    <select className="select w160" aria-label={t`Currency`} value={value} onChange={(event) => onChange(event.target.value)}>
      {currencies.map((code) => <option key={code} value={code}>{format.currency(code)}</option>)}
    </select>
  )
}

/** Reports that a plan has no price in a currency, and offers its currencies. */
export function NotInCurrency({ currency, others, onChange }: { currency: string; others: string[]; onChange?: (currency: string) => void }) {
  return (
    <>
      <span className="muted"><Trans>Not available in {currency}</Trans></span>{' '}
      {onChange && others.map((code) => <button key={code} type="button" className="as-link t13" onClick={() => onChange(code)}><Trans>Show in {code}</Trans></button>)}
    </>
  )
}
