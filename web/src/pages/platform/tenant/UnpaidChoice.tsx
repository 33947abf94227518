import { useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useFormat } from '../../../app/format'
import { timelineQuery } from '../../../parts/timeline/reads'
import { SelectField, TextField } from '../../../ui/Field'
import { billingQuery } from './reads'

/** An unpaid invoice, as the time line shows it. */
interface Unpaid {
  id: string
  number: string | null
  sum: string
}

/**
 * Returns the unpaid invoices that are known here: the one with the failed payment, and those in
 * the latest time line entries.
 */
export function useUnpaid(tenant: string, enabled: boolean): Unpaid[] {
  const format = useFormat()
  const failed = useQuery({ ...billingQuery(tenant), enabled }).data?.failed_payment
  const entries = useInfiniteQuery({ ...timelineQuery({ tenant }, 'payments', 100), enabled }).data ?? []
  const found = new Map<string, Unpaid>()
  const over = new Set<string>()
  for (const { kind, type, facts } of entries) {
    if (kind !== 'payments' || !facts.invoice) continue
    if (type === 'payment.succeeded' || type === 'invoice.voided') over.add(facts.invoice)
    else if (type === 'invoice.issued') found.set(facts.invoice, { id: facts.invoice, number: facts.number, sum: format.money(facts.amount, facts.currency) })
  }
  if (failed?.invoice) found.set(failed.invoice, { id: failed.invoice, number: failed.number, sum: format.money(failed.amount, failed.currency) })
  return [...found.values()].filter((one) => !over.has(one.id) || one.id === failed?.invoice)
}

/** Selects an unpaid invoice, or accepts the id of any other. */
export function UnpaidChoice({ unpaid }: { unpaid: Unpaid[] }) {
  const { t } = useLingui()
  const [other, setOther] = useState(false)
  const byId = unpaid.length === 0 || other
  return (
    <>
      {unpaid.length > 0 && (
        <SelectField name={other ? 'choice' : 'invoice'} label={t`Invoice`} onChange={(event) => setOther(event.target.value === '')} data-autofocus>
          {unpaid.map(({ id, number, sum }) => <option key={id} value={id}>{number ? t`${number}, ${sum}` : sum}</option>)}
          <option value="">{t`Another invoice, by ID`}</option>
        </SelectField>
      )}
      {byId && <TextField name="invoice" label={t`Invoice ID`} autoComplete="off" spellCheck={false} help={t`Act as a member and open the invoice. The ID is the last part of its address.`} data-autofocus={unpaid.length === 0 || undefined} />}
    </>
  )
}
