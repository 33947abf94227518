import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { ButtonLink } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { useRefresh } from '../shared/reads'
import { useGrants } from './reads'

/** The interval and the length of the wait for the payment's confirmation. */
const [every, atMost] = [2000, 30_000]

/** The result of a visit to the payment page: the units are added once the payment is confirmed. */
export function PackBought() {
  const format = useFormat()
  const refresh = useRefresh()
  const [{ pack, units, since }] = useFilters()
  const [late, setLate] = useState(false)
  const returned = !!pack && pack !== 'left'
  const known = useGrants().data ?? []
  const bought = returned ? known.find((one) => one.pack === pack && String(one.amount) === units && new Date(one.created_at).getTime() > Number(since) - 60_000) : undefined
  const waiting = returned && !bought && !late
  useGrants(waiting ? every : false)
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(() => setLate(true), atMost)
    return () => clearTimeout(timer)
  }, [waiting])
  const added = !!bought
  useEffect(() => {
    if (added) void refresh('/usage', '/invoices')
  }, [added, refresh])
  if (pack === 'left') return <div className="attention"><Note role="status" title={<Trans>No payment was made</Trans>}><Trans>You left the payment page before you finished. Nothing was changed.</Trans></Note></div>
  if (!returned) return null
  const count = format.number(Number(units ?? 0))
  const day = bought?.expires_at && format.dayWithYear(bought.expires_at)
  return (
    <div className="attention">
      {bought
        ? (
            <Note icon="check" role="status" title={<Trans>{count} units added</Trans>} actions={bought.invoice_id && <ButtonLink size="s" to="/invoices/$invoiceId" params={{ invoiceId: bought.invoice_id }}><Trans>View invoice</Trans></ButtonLink>}>
              {day ? <Trans>They expire on {day}.</Trans> : <Trans>They never expire.</Trans>}
            </Note>
          )
        : late
          ? <Note icon="clock" role="status" title={<Trans>Your payment is being confirmed</Trans>}><Trans>Your {count} units are added as soon as it is confirmed. You do not have to wait here.</Trans></Note>
          : <Note icon="clock" role="status" title={<Trans>Waiting for your payment</Trans>}><Trans>Your {count} units are added as soon as it is confirmed.</Trans></Note>}
    </div>
  )
}
