import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { FieldErrors } from '../../../ui/Field'
import { Menu, MenuEntry } from '../../../ui/Menu'
import { Problem } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { currenciesQuery, priceStatusQuery } from '../catalog/reads'
import type { DraftPrice } from './draft'
import { ImportPrice } from './PriceDialogs'
import { PriceRow } from './PriceRow'

/**
 * The prices of a plan, one per currency, with their state at the payment provider and how to
 * repair it.
 */
export function Prices({ plan, prices, onChange, label, mayEdit }: {
  plan: Schema<'AdminPlan'>; prices: DraftPrice[]; onChange: (to: DraftPrice[]) => void; label: string; mayEdit: boolean
}) {
  const { t } = useLingui()
  const format = useFormat()
  const currencies = useQuery(currenciesQuery).data ?? []
  const status = useQuery(priceStatusQuery(plan.id))
  const errors = useContext(FieldErrors)
  const [importing, setImporting] = useState(false)
  const free = currencies.filter((one) => !prices.some((price) => price.currency === one.code))
  const add = (
    <span className="acts">
      <Button size="s" look="quiet" onClick={() => setImporting(true)}><Trans>Import from provider</Trans></Button>
      {free.length > 0 && (
        <Menu target={<Button size="s" icon="plus"><Trans>Add currency</Trans></Button>}>
          {free.map((one) => <MenuEntry key={one.code} onClick={() => onChange([...prices, { currency: one.code, amount: '' }])}>{format.currency(one.code)} ({one.code})</MenuEntry>)}
        </Menu>
      )}
    </span>
  )
  return (
    <Section title={<Trans>Prices</Trans>} end={mayEdit && add}>
      {prices.length === 0
        ? <p className="t13 muted"><Trans>The plan cannot be bought without a price. Add the currency of your first customers.</Trans></p>
        : (
          <table className="table cards prices">
            <thead>
              <tr>
                <th scope="col"><Trans>Currency</Trans></th><th scope="col">{label}</th><th scope="col"><Trans>At the provider</Trans></th>
                <th scope="col" className="fit"><span className="sr">{t`Repair`}</span></th>
              </tr>
            </thead>
            <tbody>
              {prices.map((one, i) => (
                <PriceRow
                  key={one.currency} plan={plan} price={one} index={i} mayEdit={mayEdit} waiting={status.isPending}
                  saved={plan.prices.find((price) => price.currency === one.currency)} status={status.data?.find((price) => price.currency === one.currency)}
                  onAmount={(amount) => onChange(prices.map((other) => (other === one ? { ...other, amount } : other)))}
                  onRemove={() => onChange(prices.filter((other) => other !== one))}
                />
              ))}
            </tbody>
          </table>
        )}
      {errors.prices && <p className="error">{errors.prices[0]}</p>}
      {status.isError && <Problem error={status.error} onRetry={() => void status.refetch()} retrying={status.isFetching} />}
      <ImportPrice plan={plan} open={importing} onClose={() => setImporting(false)} />
    </Section>
  )
}
