import { api, type Schema } from './client'

/**
 * Operations that the generated client does not have yet. They are typed here by hand and move to
 * the client with its next generation.
 */
interface Ahead {
  GET: <T>(path: string, init?: object) => Promise<{ data?: T }>
  POST: <T>(path: string, init?: object) => Promise<{ data?: T }>
  PATCH: <T>(path: string, init?: object) => Promise<{ data?: T }>
  DELETE: <T>(path: string, init?: object) => Promise<{ data?: T }>
}

export const ahead = api as unknown as Ahead

/** The credit of a tenant as the operator sees it. */
export interface TenantCredit {
  balance: Schema<'Money'>
  entries: { id: string; amount: Schema<'Money'>; reason: string; by: Schema<'Author'>; created_at: string }[]
}

/** A pack of prepaid units as customers see it. */
export interface Pack {
  id: string
  slug: string
  name: string
  description: string | null
  feature_code: string
  amount: number
  expires_after_days: number | null
  prices: { currency: string; price_cents: number }[]
}

/** A pack as administrators edit it. */
export interface AdminPack {
  id: string
  slug: string
  translations: Record<string, Schema<'Translation'>>
  feature_code: string
  amount: number
  expires_after_days: number | null
  prices: { id: string; currency: string; price_cents: number }[]
  is_active: boolean
  created_at: string
  updated_at: string
}
