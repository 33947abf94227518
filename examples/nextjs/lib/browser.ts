import { cookies, createClient, isTenantryError } from '@tenantry/client'

/** The API in the browser: on the page's own origin. */
export const tenantry = createClient({ baseUrl: '', auth: cookies() })

/** Returns what went wrong, in words for the reader. */
export const inWords = (error: unknown) => (isTenantryError(error) ? error.message : 'Something went wrong. Please try again.')
