import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { useFormat } from '../../app/format'
import { languages } from '../../app/locale'
import { useSettings } from '../../app/session'
import { Copy } from '../../ui/Copy'
import { Page, Section } from '../../ui/Page'
import { Currencies } from './settings/Currencies'
import { usePlatformMay } from './may'
import { SettingsTabs } from './settings/SettingsTabs'

function Fact({ label, variable, children }: { label: ReactNode; variable?: string; children: ReactNode }) {
  return <div><dt>{label}{variable && <small><code>{variable}</code></small>}</dt><dd>{children}</dd></div>
}


function None() {
  return <span className="faint"><Trans>Not set</Trans></span>
}

/** The settings of the service. They are read-only, because the operator sets them at the start. */
function Service() {
  const format = useFormat()
  const settings = useSettings()
  const { logo_url, accent } = settings
  const link = (url: string | null) => (url ? <a href={url}>{url}</a> : <None />)
  return (
    <Section title={<Trans>The service</Trans>} lead={<Trans>Configured with environment variables where the service runs. Shown here for reference.</Trans>}>
      <dl className="dl settings">
        <Fact label={<Trans>Name of the product</Trans>} variable="TENANTRY_APP_NAME">{settings.app_name}</Fact>
        <Fact label={<Trans>Logo</Trans>} variable="TENANTRY_LOGO">{logo_url ? <img className="logo-shown" src={logo_url} alt={settings.app_name} /> : <None />}</Fact>
        <Fact label={<Trans>Accent</Trans>} variable="TENANTRY_ACCENT">{accent ? <span className="accent-shown"><i style={{ background: accent }} />{accent}</span> : <None />}</Fact>
        <Fact label={<Trans>Frontend URL</Trans>} variable="TENANTRY_FRONTEND_URL"><Copy text={settings.frontend_url} whole /></Fact>
        <Fact label={<Trans>Support</Trans>} variable="TENANTRY_SUPPORT_EMAIL">{settings.support_email ?? <None />}</Fact>
        <Fact label={<Trans>Terms</Trans>} variable="TENANTRY_TERMS_URL">{link(settings.terms_url)}</Fact>
        <Fact label={<Trans>Privacy</Trans>} variable="TENANTRY_PRIVACY_URL">{link(settings.privacy_url)}</Fact>
        <Fact label={<Trans>Invoices</Trans>} variable="TENANTRY_INVOICE_MODE">
          {settings.invoice_mode === 'platform_managed' ? <Trans>Issued by this service, with its own numbers and documents</Trans> : <Trans>Issued by the payment provider</Trans>}
        </Fact>
        <Fact label={<Trans>Sign-in methods</Trans>} variable="TENANTRY_OAUTH_…, TENANTRY_OIDC_…">
          {settings.oauth_providers.length > 0 ? format.list(settings.oauth_providers) : <Trans>Password only</Trans>}
        </Fact>
        <Fact label={<Trans>Default currency</Trans>}>{format.currency(settings.default_currency)}</Fact>
        <Fact label={<Trans>Languages</Trans>}>{format.list(settings.locales.map((one) => languages[one]))}</Fact>
      </dl>
    </Section>
  )
}

/** Currencies and the settings of the service. */
export default function Settings() {
  const { t } = useLingui()
  const may = usePlatformMay()
  return (
    <Page title={t`Settings`}>
      <SettingsTabs />
      {may('currencies.manage') && <Currencies mayEdit />}
      <Service />
    </Page>
  )
}
