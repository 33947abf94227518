import { apiKey, cookies, createClient, isTenantryError } from '@tenantry/client'
import { headers } from 'next/headers'

/** Where Tenantry is. */
export const baseUrl = process.env.TENANTRY_URL ?? 'http://127.0.0.1:8080'

/** Calls as the product itself: it records what customers use. */
export const product = createClient({ baseUrl, auth: apiKey(process.env.TENANTRY_API_KEY ?? '') })

/** Calls as the person whose page is rendered. */
export async function visitor() {
  const sent = await headers()
  const locale = sent.get('accept-language') ?? 'en'
  return createClient({ baseUrl, auth: cookies({ cookie: sent.get('cookie') ?? '' }), locale })
}

/** Returns who is logged in; null for nobody. */
export async function whoIsIt() {
  try {
    return await (await visitor()).GET('/api/v1/auth/me')
  } catch (error) {
    if (isTenantryError(error) && error.status === 401) return null
    throw error
  }
}
