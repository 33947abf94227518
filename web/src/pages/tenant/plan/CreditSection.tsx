import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { Section } from '../../../ui/Page'
import { useCredit, useNewestInvoices } from '../shared/reads'

/** The number of balance changes to show. */
const shown = 10

interface Change {
  key: string
  at: string
  cents: number
  currency: string
  text: ReactNode
}

/**
 * The balance that the next invoices use, and its history: credits, their reversals, and invoices.
 */
export function CreditSection() {
  const format = useFormat()
  const credit = useCredit().data?.data
  const invoices = useNewestInvoices().data?.data ?? []
  if (!credit) return null
  const changes: Change[] = credit.entries.map((one) => ({
    key: one.id, at: one.created_at, cents: one.amount.amount_cents, currency: one.amount.currency,
    text: one.amount.amount_cents > 0 ? <Trans>Credit added</Trans> : <Trans>Credit removed</Trans>,
  }))
  for (const invoice of invoices) {
    const cents = -invoice.balance_applied.amount_cents
    if (cents === 0) continue
    const number = <Link to="/invoices/$invoiceId" params={{ invoiceId: invoice.id }}>{invoice.number}</Link>
    changes.push({
      key: invoice.id, at: invoice.issue_date, cents, currency: invoice.balance_applied.currency,
      text: cents > 0 ? <Trans>Credited by invoice {number}</Trans> : <Trans>Used for invoice {number}</Trans>,
    })
  }
  if (credit.balance.amount_cents === 0 && changes.length === 0) return null
  const balance = format.sum(credit.balance)
  return (
    <Section title={<Trans>Balance</Trans>} end={<b className="num">{balance}</b>}>
      <p className="t13 muted"><Trans>Your balance is applied to your next invoices before you are charged.</Trans></p>
      <ul className="list dates">
        {changes.sort((a, b) => b.at.localeCompare(a.at)).slice(0, shown).map((one) => (
          <li key={one.key}>
            <time dateTime={one.at}>{format.shortDay(one.at)}</time>
            <span>{one.text}</span>
            <span className="end num">{format.money(one.cents, one.currency, { sign: true })}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
