import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { readNotes } from '../../../parts/credit/api'
import { NoteTable } from '../../../parts/credit/NoteTable'
import { Section } from '../../../ui/Page'
import { useHere } from '../shared/reads'

/** The credit notes of an invoice. The API lists the notes of all invoices. */
export function useNotesOf(invoiceId: string) {
  const { tenantId } = useHere().params.path
  return useQuery({
    queryKey: ['get', '/api/v1/tenant/{tenantId}/credit-notes', tenantId],
    queryFn: () => readNotes(tenantId),
    select: (notes) => notes.filter((one) => one.invoice_id === invoiceId),
  })
}

/** The credit notes of an invoice, if it has any. */
export function CreditNotes({ invoiceId }: { invoiceId: string }) {
  const { tenantId } = useHere().params.path
  const notes = useNotesOf(invoiceId).data ?? []
  if (notes.length === 0) return null
  return (
    <Section title={<Trans>Credit notes</Trans>}>
      <NoteTable notes={notes} pdf={(note) => `/api/v1/tenant/${tenantId}/credit-notes/${note.id}/pdf`} />
    </Section>
  )
}
