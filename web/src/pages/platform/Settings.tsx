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

interface FactProps {
  label: ReactNode
  /** The effect of the setting. */
  about: ReactNode
  /** The environment variables that set it. */
  variable?: string
  /** Whether the value is the default, because the variable is not set. */
  isDefault?: boolean
  children: ReactNode
}

function Fact({ label, about, variable, isDefault, children }: FactProps) {
  return (
    <div>
      <dt>{label}<small className="faint">{about}</small></dt>
      <dd>
        {children}{isDefault && <> <span className="tag"><Trans>Default value</Trans></span></>}
        {variable && <details className="t13"><summary><Trans>How to change</Trans></summary><Trans>Set <code>{variable}</code> where the service runs, then restart it.</Trans></details>}
      </dd>
    </div>
  )
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
  const isManaged = settings.invoice_mode === 'platform_managed'
  return (
    <Section title={<Trans>The service</Trans>} lead={<Trans>These values are set where the service runs, as environment variables or flags. Secrets are never shown.</Trans>}>
      <dl className="dl settings">
        <Fact label={<Trans>Name of the product</Trans>} about={<Trans>In the console, emails and the authenticator app.</Trans>} variable="TENANTRY_APP_NAME" isDefault={settings.app_name === 'Tenantry'}>{settings.app_name}</Fact>
        <Fact label={<Trans>Logo</Trans>} about={<Trans>In the console, emails and invoices. A file or an https address.</Trans>} variable="TENANTRY_LOGO">{logo_url ? <img className="logo-shown" src={logo_url} alt={settings.app_name} /> : <None />}</Fact>
        <Fact label={<Trans>Accent</Trans>} about={<Trans>Color of main buttons, also in emails. White text must be readable on it.</Trans>} variable="TENANTRY_ACCENT">{accent ? <span className="accent-shown"><i style={{ background: accent }} />{accent}</span> : <None />}</Fact>
        <Fact label={<Trans>Frontend URL</Trans>} about={<Trans>Links in emails and returns from the payment page lead here.</Trans>} variable="TENANTRY_FRONTEND_URL"><Copy text={settings.frontend_url} whole /></Fact>
        <Fact label={<Trans>Support</Trans>} about={<Trans>Address for questions, at the end of emails.</Trans>} variable="TENANTRY_SUPPORT_EMAIL">{settings.support_email ?? <None />}</Fact>
        <Fact label={<Trans>Terms</Trans>} about={<Trans>Linked at registration and in emails.</Trans>} variable="TENANTRY_TERMS_URL">{link(settings.terms_url)}</Fact>
        <Fact label={<Trans>Privacy</Trans>} about={<Trans>Linked at registration and in emails.</Trans>} variable="TENANTRY_PRIVACY_URL">{link(settings.privacy_url)}</Fact>
        <Fact label={<Trans>Invoices</Trans>} about={<Trans>Who numbers and issues the documents of your customers.</Trans>} variable="TENANTRY_INVOICE_MODE" isDefault={!isManaged}>
          {isManaged ? <Trans>Issued by this service, with its own numbers and documents</Trans> : <Trans>Issued by the payment provider</Trans>}
        </Fact>
        <Fact label={<Trans>Sign-in methods</Trans>} about={<Trans>Identity providers offered next to the password.</Trans>} variable="TENANTRY_OAUTH_…, TENANTRY_OIDC_…" isDefault={settings.oauth_providers.length === 0}>
          {settings.oauth_providers.length > 0 ? format.list(settings.oauth_providers) : <Trans>Password only</Trans>}
        </Fact>
        <Fact label={<Trans>Default currency</Trans>} about={<Trans>Preselected for new organizations.</Trans>}>{format.currency(settings.default_currency)}</Fact>
        <Fact label={<Trans>Languages</Trans>} about={<Trans>Offered in the console and used for emails.</Trans>} variable="TENANTRY_LOCALES">{format.list(settings.locales.map((one) => languages[one]))}</Fact>
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
