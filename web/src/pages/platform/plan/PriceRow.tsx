import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useContext, useState } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Copy } from '../../../ui/Copy'
import { FieldErrors } from '../../../ui/Field'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Status } from '../../../ui/Status'
import { useDigits } from './digits'
import { minorUnits, type DraftPrice } from './draft'
import { LinkPrice, RepairPrice, usePriceActions } from './PriceDialogs'

type PriceStatus = Schema<'AdminPriceStatus'>

function State({ of, changed, isNew, waiting }: { of?: PriceStatus; changed: boolean; isNew: boolean; waiting: boolean }) {
  if (isNew || changed) {
    return <><Status tone="wait"><Trans>Created on first purchase</Trans></Status>{changed && <small><Trans>Save first. Existing customers keep the old price.</Trans></small>}</>
  }
  if (!of) return waiting ? <span className="faint"><Trans>Checking…</Trans></span> : <Status tone="plain"><Trans>Unknown</Trans></Status>
  const link = of.psp_price_id && <small><Copy text={of.psp_price_id} /></small>
  const below = of.message && <small>{of.message}</small>
  switch (of.status) {
    case 'linked': return <>{of.warning ? <Status tone="warn"><Trans>Linked, but too low</Trans></Status> : <Status tone="good"><Trans>Linked</Trans></Status>}{of.warning && <small>{of.warning}</small>}{link}</>
    case 'missing': return <><Status tone={of.warning ? 'warn' : 'wait'}><Trans>Not created yet</Trans></Status><small>{of.warning ?? <Trans>Created on first purchase</Trans>}</small></>
    case 'mismatch': return <><Status tone="bad"><Trans>Does not match</Trans></Status>{below}</>
    case 'stripe_missing': return <><Status tone="bad"><Trans>Missing at the provider</Trans></Status>{below}</>
    case 'inactive': return <><Status tone="bad"><Trans>Not active at the provider</Trans></Status>{below}</>
    default: return <><Status tone="warn"><Trans>Could not be checked</Trans></Status>{below}</>
  }
}

/** The meter prices that some subscriptions do not have yet, and when they will switch. */
function Switches({ of }: { of: Schema<'MeterSwitch'>[] }) {
  const format = useFormat()
  return of.filter((one) => one.pending_subscriptions > 0).map((one) => {
    const day = one.next_switch_at && format.day(one.next_switch_at)
    return (
      <small key={one.meter_code}>
        <code>{one.meter_code}</code>: <Plural value={one.pending_subscriptions} one="# subscription changes at its next renewal" other="# subscriptions change at their next renewal" />
        {day && <>, <Trans>the first on {day}</Trans></>}
      </small>
    )
  })
}

/** A price: the amount, its state at the provider, and how to repair it. */
export function PriceRow({ plan, price, index, saved, status, waiting, mayEdit, onAmount, onRemove }: {
  plan: Schema<'AdminPlan'>; price: DraftPrice; index: number; saved?: Schema<'AdminPrice'>; status?: PriceStatus; waiting: boolean; mayEdit: boolean
  onAmount: (to: string) => void; onRemove: () => void
}) {
  const { t } = useLingui()
  const format = useFormat()
  const digits = useDigits()
  const errors = useContext(FieldErrors)
  const error = errors[`prices.${index}.price_cents`]?.[0] ?? errors[`prices.${index}.currency`]?.[0]
  const { create, unlink } = usePriceActions(plan, saved)
  const [asked, setAsked] = useState<'link' | 'repair'>()
  const name = format.currency(price.currency)
  const changed = saved !== undefined && minorUnits(price.amount, digits(price.currency)) !== saved.price_cents
  const broken = !changed && status && ['mismatch', 'stripe_missing', 'inactive'].includes(status.status)
  const missing = !changed && saved && status?.status === 'missing'
  return (
    <tr>
      <td className="k1"><b>{name}</b>{changed && <small><Trans>was {format.money(saved.price_cents, saved.currency)}</Trans></small>}</td>
      <td className="k2">
        <input
          className={`input dense ${changed || !saved ? 'is-changed' : ''} ${error ? 'is-bad' : ''}`} name={`prices.${index}.price_cents`} value={price.amount} inputMode="decimal" autoComplete="off"
          aria-label={t`Price in ${name}`} aria-invalid={error ? true : undefined} disabled={!mayEdit} onChange={(event) => onAmount(event.target.value)}
        />
        {error && <small className="bad">{error}</small>}
      </td>
      <td className="k4"><State of={status} changed={changed} isNew={!saved} waiting={waiting} />{!changed && status && <Switches of={status.meters} />}</td>
      <td className="acts-cell k5">
        {mayEdit && missing && <Button size="s" busy={create.isPending} onClick={() => create.mutate()}><Trans>Create it there</Trans></Button>}
        {mayEdit && broken && <Button size="s" onClick={() => setAsked('repair')}><Trans>Repair…</Trans></Button>}
        {mayEdit && (
          <More small>
            {saved && !saved.psp_price_id && <MenuEntry icon="hook" onClick={() => setAsked('link')}><Trans>Link to existing price</Trans></MenuEntry>}
            {saved?.psp_price_id && <MenuEntry icon="minus" onClick={() => unlink.mutate()}><Trans>Unlink</Trans></MenuEntry>}
            {saved && <MenuLine />}
            <MenuEntry icon="x" danger onClick={onRemove}><Trans>Remove currency</Trans></MenuEntry>
          </More>
        )}
        {saved && <LinkPrice plan={plan} price={saved} open={asked === 'link'} onClose={() => setAsked(undefined)} />}
        {saved && <RepairPrice plan={plan} price={saved} status={status} open={asked === 'repair'} onClose={() => setAsked(undefined)} onLink={() => setAsked('link')} />}
      </td>
    </tr>
  )
}
