import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { address, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { retryRefund, type CreditNote } from '../../../parts/credit/api'
import { NoteTable } from '../../../parts/credit/NoteTable'
import { InvoiceFacts } from '../../../parts/invoice/InvoiceFacts'
import { InvoiceLines } from '../../../parts/invoice/InvoiceLines'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { MenuEntry, More } from '../../../ui/Menu'
import { Note, Skeleton } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { InvoiceState } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { isCreditable } from '../invoices/words'
import { usePlatformMay } from '../may'
import { NotAllowed } from '../NotAllowed'
import { CreateNote } from './CreateNote'
import { VoidInvoice } from './VoidInvoice'
import { notesQuery } from './invoices'
import { MarkPaid } from './MarkPaid'
import { PayInvoice } from './PayInvoice'
import { invoiceQuery } from './reads'
import { useCustomer } from './useCustomer'

/** A refund that failed, with the action that repeats it. */
function FailedRefund({ of, tenant }: { of: CreditNote; tenant: string }) {
  const format = useFormat()
  const queries = useQueryClient()
  const may = usePlatformMay()
  const retry = useMutation({
    mutationFn: () => retryRefund(tenant, of.id),
    onSuccess: () => toast(<Trans>The refund was requested again.</Trans>),
    onError: (error) => toast(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tenants'] }),
  })
  const amount = format.sum(of.total)
  const { number } = of
  return (
    <div className="gap-below">
      <Note tone="bad" title={<Trans>The refund of {amount} failed</Trans>} actions={may('billing.credit') && <Button busy={retry.isPending} onClick={() => retry.mutate()}><Trans>Retry refund</Trans></Button>}>
        <Trans>The customer’s bank did not accept it. Credit note {number} stays valid.</Trans>
      </Note>
    </div>
  )
}

function Shown({ invoice, notes }: { invoice: Schema<'Invoice'>; notes: CreditNote[] }) {
  const { t } = useLingui()
  const of = useCustomer()
  const may = usePlatformMay()
  const [asked, setAsked] = useState<'note' | 'paid' | 'charge' | 'void'>()
  const close = () => setAsked(undefined)
  const path = `/api/v1/admin/tenants/${of.id}`
  const { number } = invoice
  const creditable = isCreditable(invoice)
  return (
    <>
      <p className="t13 back"><Link to="/platform/tenants/$tenantId/invoices" params={{ tenantId: of.id }}><Trans>All invoices</Trans></Link></p>
      <div className="sub-head">
        <h2><Trans>Invoice {number}</Trans> <InvoiceState status={invoice.status} /></h2>
        <div className="acts">
          {invoice.pdf_url && <ButtonAnchor icon="download" href={address(`${path}/invoices/${invoice.id}/pdf`)} download={`${number}.pdf`} aria-label={t`PDF of ${number}`}>PDF</ButtonAnchor>}
          {invoice.status === 'open' && may('subscriptions.manage') && <Button icon="card" onClick={() => setAsked('charge')}><Trans>Charge invoice</Trans></Button>}
          {invoice.status === 'open' && may('subscriptions.manage') && <Button onClick={() => setAsked('paid')}><Trans>Record payment</Trans></Button>}
          {creditable && may('billing.credit') && <Button look="primary" onClick={() => setAsked('note')}><Trans>Create credit note</Trans></Button>}
          {(invoice.status === 'open' || invoice.status === 'draft') && may('tenants.manage') && <More><MenuEntry icon="x" danger onClick={() => setAsked('void')}><Trans>Void invoice</Trans></MenuEntry></More>}
        </div>
      </div>
      {notes.filter((one) => one.refund_status === 'failed').map((one) => <FailedRefund key={one.id} of={one} tenant={of.id} />)}
      <div className="facts-left">
        <InvoiceFacts invoice={invoice} />
        <div>
          <InvoiceLines invoice={invoice} />
          {notes.length > 0 && <Section title={<Trans>Credit notes</Trans>}><NoteTable notes={notes} pdf={(note) => `${path}/credit-notes/${note.id}/pdf`} /></Section>}
        </div>
      </div>
      <MarkPaid tenant={of} invoice={invoice} open={asked === 'paid'} onClose={close} />
      <PayInvoice tenant={of} invoice={invoice} open={asked === 'charge'} onClose={close} />
      <VoidInvoice tenant={of} invoice={invoice} open={asked === 'void'} onClose={close} />
      <CreateNote tenant={of} invoice={invoice} notes={notes} open={asked === 'note'} onClose={close} />
    </>
  )
}

/** An invoice of a tenant, with its credit notes. */
export default function InvoicePage() {
  const { t } = useLingui()
  const { tenantId, invoiceId } = useParams({ strict: false }) as { tenantId: string; invoiceId: string }
  const may = usePlatformMay()
  const invoice = useQuery({ ...invoiceQuery(tenantId, invoiceId), enabled: may('tenants.view') })
  const notes = useQuery({ ...notesQuery(tenantId, invoiceId), enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed needs={['tenants.view']} title={t`Invoice`} />
  if (notes.isLoading) return <Skeleton lines={8} />
  return <Read query={invoice} lines={8}>{(data) => <Shown invoice={data} notes={notes.data ?? []} />}</Read>
}
