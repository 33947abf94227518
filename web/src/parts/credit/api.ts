import { api, type Schema } from '../../api/client'

type Money = Schema<'Money'>

/** A credit note of an invoice. */
export interface CreditNote {
  id: string
  number: string
  invoice_id: string
  status: 'issued' | 'void'
  subtotal: Money
  tax: Money
  total: Money
  settlement: Settlement
  refund_status: 'pending' | 'succeeded' | 'failed' | null
  reason: Reason
  memo: string | null
  issue_date: string
  lines: { line_id: string | null; description: string; amount: Money }[]
  pdf_url: string | null
}

export type Settlement = 'refund' | 'credit' | 'none'
export type Reason = 'duplicate' | 'fraudulent' | 'order_change' | 'product_unsatisfactory' | 'other'

/** The request that makes a credit note. */
export interface Draft {
  lines?: { line_id: string; amount_cents: number }[]
  amount_cents?: number
  settlement: Settlement
  reason: Reason
  memo?: string
}

/** What a credit note would amount to, and what can be refunded. */
export interface Preview {
  subtotal: Money
  tax: Money
  total: Money
  refundable: Money
}

type Untyped = Record<'GET' | 'POST', (path: string, init: object) => Promise<{ data?: { data: unknown } }>>
const untyped = api as unknown as Untyped

export async function readNotes(tenantId: string): Promise<CreditNote[]> {
  return (await untyped.GET('/api/v1/tenant/{tenantId}/credit-notes', { params: { path: { tenantId }, query: { per_page: 100 } } })).data!.data as CreditNote[]
}

export async function readNote(tenant: string, creditNote: string): Promise<CreditNote> {
  return (await untyped.GET('/api/v1/admin/tenants/{tenant}/credit-notes/{creditNote}', { params: { path: { tenant, creditNote } } })).data!.data as CreditNote
}

export async function previewNote(tenant: string, invoice: string, body: Draft): Promise<Preview> {
  return (await untyped.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/credit-notes/preview', { params: { path: { tenant, invoice } }, body })).data!.data as Preview
}

export async function makeNote(tenant: string, invoice: string, body: Draft, key: string): Promise<CreditNote> {
  return (await untyped.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/credit-notes', { params: { path: { tenant, invoice } }, body, headers: { 'Idempotency-Key': key } })).data!.data as CreditNote
}

export async function retryRefund(tenant: string, creditNote: string): Promise<CreditNote> {
  return (await untyped.POST('/api/v1/admin/tenants/{tenant}/credit-notes/{creditNote}/retry-refund', { params: { path: { tenant, creditNote } } })).data!.data as CreditNote
}
