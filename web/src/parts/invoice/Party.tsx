import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'

/** The recipient of an invoice, from the time of its issue. */
export function Party({ party }: { party: Schema<'InvoiceParty'> }) {
  const format = useFormat()
  const { address } = party
  const place = [address.postal_code, address.city].filter(Boolean).join(' ')
  const lines = [party.name, address.line1, address.line2, place, address.state, address.country && format.country(address.country), party.email]
  return <address className="party">{lines.filter(Boolean).map((line) => <span key={line}>{line}</span>)}</address>
}
