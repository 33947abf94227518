import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'

type Method = Schema<'PaymentMethod'>

/** The names of card brands, which are not translated. */
const brands: Record<string, string> = {
  visa: 'Visa', mastercard: 'Mastercard', amex: 'American Express', diners: 'Diners Club', discover: 'Discover', jcb: 'JCB', unionpay: 'UnionPay',
  cartes_bancaires: 'Cartes Bancaires', link: 'Link', paypal: 'PayPal',
}

const banks = new Set(['sepa_debit', 'us_bank_account', 'bacs_debit', 'au_becs_debit', 'acss_debit'])

/** Returns a function that describes a payment method: Visa ending in 4242. */
export function useMethodWords(): (method: Method) => string {
  const { t } = useLingui()
  return ({ type, brand, last4 }) => {
    const name = banks.has(type) ? t`Bank account` : brand ? (brands[brand] ?? brand) : (brands[type] ?? (type === 'card' ? t`Card` : type))
    return last4 ? t`${name} ending in ${last4}` : name
  }
}

/** Returns the expiry month of a card as printed on it; undefined for other methods. */
export function validUntil({ exp_month: month, exp_year: year }: Method): string | undefined {
  return month && year ? `${String(month).padStart(2, '0')}/${year}` : undefined
}

/** Reports whether a card expires before a time, or has expired. */
export function endsBefore({ exp_month: month, exp_year: year }: Method, at: string): boolean {
  return !!month && !!year && Date.UTC(year, month, 1) <= Math.max(now(), new Date(at).getTime())
}
