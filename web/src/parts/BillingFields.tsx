import { useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import { countries } from '../app/countries'
import { useFormat } from '../app/format'
import { AreaField, SelectField, TextField } from '../ui/Field'
import type { Values } from '../ui/Form'

/** The billing details of a tenant. */
export interface BillingDetails {
  legal_name?: string | null
  address?: string | null
  city?: string | null
  postal_code?: string | null
  country?: string | null
  vat_number?: string | null
  billing_email?: string | null
}

const names = ['legal_name', 'address', 'city', 'postal_code', 'country', 'vat_number', 'billing_email'] as const

/** Returns the billing details in the values of a form. Empty fields are cleared. */
export function billingOf(values: Values): BillingDetails {
  return Object.fromEntries(names.map((name) => [name, String(values[name] ?? '').trim() || null]))
}

/** Returns a text that differs if the billing details do. */
export function billingKey(details: BillingDetails): string {
  return JSON.stringify(names.map((name) => details[name] ?? null))
}

/** Returns the countries with their names in the reader's language, sorted by name. */
function useCountries(): [code: string, name: string][] {
  const { i18n } = useLingui()
  const format = useFormat()
  return useMemo(
    () => countries.map((code): [string, string] => [code, format.country(code)]).sort((a, b) => a[1].localeCompare(b[1], i18n.locale)),
    [format, i18n.locale],
  )
}

/**
 * The fields of the billing details. Onboarding asks for the country first, because it determines
 * the tax.
 */
export function BillingFields({ details, countryFirst = false }: { details: BillingDetails; countryFirst?: boolean }) {
  const { t } = useLingui()
  const countries = useCountries()
  const country = (
    <SelectField name="country" label={t`Country`} autoComplete="country" defaultValue={details.country ?? ''}>
      <option value="">{t`Choose`}</option>
      {countries.map(([code, name]) => <option key={code} value={code}>{name}</option>)}
    </SelectField>
  )
  return (
    <>
      {countryFirst && country}
      <TextField name="legal_name" label={t`Legal name`} autoComplete="organization" defaultValue={details.legal_name ?? ''} help={t`Printed on every invoice`} />
      <AreaField name="address" label={t`Address`} autoComplete="street-address" rows={2} defaultValue={details.address ?? ''} />
      <div className="two">
        <TextField name="postal_code" label={t`Postal code`} autoComplete="postal-code" defaultValue={details.postal_code ?? ''} />
        <TextField name="city" label={t`City`} autoComplete="address-level2" defaultValue={details.city ?? ''} />
      </div>
      {!countryFirst && country}
      <TextField name="vat_number" label={t`VAT number`} hint={t`optional`} defaultValue={details.vat_number ?? ''} />
      <TextField name="billing_email" label={t`Billing email`} hint={t`optional`} type="email" autoComplete="email" defaultValue={details.billing_email ?? ''} help={t`If empty, invoices go to the owner.`} />
    </>
  )
}
