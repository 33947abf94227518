import { api, type Schema } from '../../api/client'

/** A credit note of an invoice. */
export type CreditNote = Schema<'CreditNoteView'>

export type Settlement = Schema<'CreditSettlement'>
export type Reason = Schema<'CreditReason'>

/** The request that makes a credit note. */
export type Draft = Schema<'AdminCreateCreditNoteRequest'>

/** What a credit note would amount to, and what can be refunded. */
export type Preview = Schema<'CreditNotePreview'>

const path = '/api/v1/admin/tenants/{tenant}'

export const readNotes = async (tenantId: string) =>
  (await api.GET('/api/v1/tenant/{tenantId}/credit-notes', { params: { path: { tenantId }, query: { per_page: 100 } } })).data!.data

export const readNote = async (tenant: string, creditNote: string) =>
  (await api.GET(`${path}/credit-notes/{creditNote}`, { params: { path: { tenant, creditNote } } })).data!.data

export const previewNote = async (tenant: string, invoice: string, body: Draft) =>
  (await api.POST(`${path}/invoices/{invoice}/credit-notes/preview`, { params: { path: { tenant, invoice } }, body })).data!.data

export const makeNote = async (tenant: string, invoice: string, body: Draft, key: string) =>
  (await api.POST(`${path}/invoices/{invoice}/credit-notes`, { params: { path: { tenant, invoice }, header: { 'Idempotency-Key': key } }, body })).data!.data

export const retryRefund = async (tenant: string, creditNote: string) =>
  (await api.POST(`${path}/credit-notes/{creditNote}/retry-refund`, { params: { path: { tenant, creditNote } } })).data!.data
