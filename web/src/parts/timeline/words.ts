import { t } from '@lingui/core/macro'
import type { Change } from './types'

/** Returns a text of an object: a translated name in the reader's language or in English. */
export function text(of: unknown, language = 'en'): string | undefined {
  if (typeof of === 'string') return of || undefined
  if (typeof of === 'number') return String(of)
  if (!of || typeof of !== 'object') return undefined
  const texts = of as Record<string, unknown>
  return (typeof texts[language] === 'string' && texts[language]) || (typeof texts.en === 'string' && texts.en) || undefined
}

/** Returns the actor of an entry: a user, an API key, or the service itself. */
export function whoOf(entry: Change): string {
  if (entry.actor) return entry.actor.name
  if (entry.api_key) return t`The API key “${entry.api_key.name}”`
  return entry.by === 'former_user' ? t`A former member` : t`The service`
}

/** Returns an unknown type as words: subscription.paused is subscription paused. */
export function plainType(type: string): string {
  return type.replace(/[._]+/g, ' ')
}

/** Returns the names of the fields in a change of an organization. */
export function fieldWords(after: Record<string, unknown>): string[] {
  const known: Record<string, string> = {
    name: t`name`, slug: t`short name`, legal_name: t`legal name`, address: t`address`, city: t`city`, postal_code: t`postal code`,
    country: t`country`, vat_number: t`VAT number`, billing_email: t`billing email`, settings: t`settings`,
    require_mfa: t`required second factor`, require_mfa_from: t`start of the requirement`,
  }
  return Object.keys(after).flatMap((key) => known[key] ?? [])
}
