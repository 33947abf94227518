import { t } from '@lingui/core/macro'
import { ApiError, type Schema } from '../../../api/client'

/** Returns the word for a field in which a price can differ from the provider's. */
function fieldWord(field: string): string {
  const words: Record<string, string> = {
    amount: t`amount`, currency: t`currency`, interval: t`interval`, active: t`active`, usage_type: t`billing method`, meter: t`meter`,
  }
  return words[field] ?? field
}

function said({ field, expected, actual }: Schema<'PriceMismatch'>): string {
  if (field === 'psp_price_id' && actual === null) return t`The provider does not have this price.`
  const word = fieldWord(field)
  const [here, there] = [String(expected ?? '–'), String(actual ?? '–')]
  return t`${word}: ${there} at the provider, ${here} here`
}

/**
 * Assigns the differences between a price and the provider's to a field of the form. It rethrows
 * other errors unchanged.
 */
export function atField(error: unknown, field: string): never {
  if (error instanceof ApiError && error.code === 'psp_price_mismatch' && Array.isArray(error.body.mismatches)) {
    const found = (error.body.mismatches as Schema<'PriceMismatch'>[]).map(said)
    throw new ApiError(error.status, error.message, error.code, { [field]: [[error.message, ...found].join(' ')] })
  }
  throw error
}
