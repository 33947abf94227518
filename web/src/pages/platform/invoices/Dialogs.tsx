import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { InvoiceRow } from '../lists/reads'
import { CreateNote } from '../tenant/CreateNote'
import { notesQuery } from '../tenant/invoices'
import { MarkPaid } from '../tenant/MarkPaid'
import { PayInvoice } from '../tenant/PayInvoice'
import { VoidInvoice } from '../tenant/VoidInvoice'

export interface Ask {
  dialog: 'paid' | 'charge' | 'note' | 'void'
  of: InvoiceRow
}

/** Keeps the dialog of an invoice that an action opened. */
export function useAskedInvoice() {
  const [asked, setAsked] = useState<Ask>()
  const [open, setOpen] = useState(false)
  return {
    asked, open,
    ask: (dialog: Ask['dialog'], of: InvoiceRow) => { setAsked({ dialog, of }); setOpen(true) },
    close: () => setOpen(false),
  }
}

/** The dialogs of the actions of an invoice. The last one keeps its content while it closes. */
export function InvoiceDialogs({ asked, open, close }: ReturnType<typeof useAskedInvoice>) {
  if (!asked) return null
  const { dialog, of } = asked
  const shown = (one: Ask['dialog']) => open && dialog === one
  return (
    <>
      <MarkPaid tenant={of.tenant} invoice={of} open={shown('paid')} onClose={close} />
      <PayInvoice tenant={of.tenant} invoice={of} open={shown('charge')} onClose={close} />
      <VoidInvoice tenant={of.tenant} invoice={of} open={shown('void')} onClose={close} />
      {dialog === 'note' && <Note key={of.id} of={of} open={open} onClose={close} />}
    </>
  )
}

function Note({ of, open, onClose }: { of: InvoiceRow; open: boolean; onClose: () => void }) {
  const notes = useQuery(notesQuery(of.tenant.id, of.id)).data
  return notes ? <CreateNote tenant={of.tenant} invoice={of} notes={notes} open={open} onClose={onClose} /> : null
}
