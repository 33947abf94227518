import type { Schema } from '../../../api/client'
import { offered, type Language } from '../../../app/locale'

/** Returns the offered language that the organization has chosen, if any. */
export function localeOf(tenant: Pick<Schema<'Tenant'>, 'settings'>, locales: readonly string[]): Language | undefined {
  return offered(locales).find(([code]) => code === tenant.settings?.locale)?.[0]
}
