import { Trans } from '@lingui/react/macro'
import { useFormat } from '../../../app/format'
import { languages } from '../../../app/locale'
import { useSettings, useTenant } from '../../../app/session'
import { Section } from '../../../ui/Page'
import { localeOf } from './locale'

/** The settings for members who can only read them. */
export function Facts() {
  const format = useFormat()
  const tenant = useTenant()
  const locale = localeOf(tenant, useSettings().locales)
  const place = [tenant.address, [tenant.postal_code, tenant.city].filter(Boolean).join(' '), tenant.country && format.country(tenant.country)].filter(Boolean).join(', ')
  return (
    <Section className="" title={<Trans>Organization</Trans>}>
      <dl className="dl">
        <div><dt><Trans>Name</Trans></dt><dd>{tenant.name}</dd></div>
        <div><dt><Trans>Owner</Trans></dt><dd>{tenant.owner?.name ?? '—'}</dd></div>
        <div><dt><Trans>Language</Trans></dt><dd>{locale ? languages[locale] : <Trans>Language of the recipient</Trans>}</dd></div>
        <div><dt><Trans>On invoices</Trans></dt><dd>{tenant.legal_name ?? '—'}</dd></div>
        <div><dt><Trans>Address</Trans></dt><dd>{place || '—'}</dd></div>
      </dl>
    </Section>
  )
}
