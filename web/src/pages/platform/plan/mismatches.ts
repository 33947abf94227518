import { t } from '@lingui/core/macro'
import { ApiError, type Schema } from '../../../api/client'

/** The words of what a price at the provider can differ in. */
function fieldWord(field: string): string {
  const words: Record<string, string> = {
    amount: t`amount`, currency: t`currency`, interval: t`interval`, active: t`active`, usage_type: t`how it is billed`, meter: t`meter`,
  }
  return words[field] ?? field
}

function said({ field, expected, actual }: Schema<'PriceMismatch'>): string {
  if (field === 'psp_price_id' && actual === null) return t`The provider has no such price.`
  const word = fieldWord(field)
  const [here, there] = [String(expected ?? '–'), String(actual ?? '–')]
  return t`${word}: ${there} there, ${here} here`
}

/** Puts what differs between a price and the provider's at a field of the form; other errors are left as they are. */
export function atField(error: unknown, field: string): never {
  if (error instanceof ApiError && error.code === 'psp_price_mismatch' && Array.isArray(error.body.mismatches)) {
    const found = (error.body.mismatches as Schema<'PriceMismatch'>[]).map(said)
    throw new ApiError(error.status, error.message, error.code, { [field]: [[error.message, ...found].join(' ')] })
  }
  throw error
}
