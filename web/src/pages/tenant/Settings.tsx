import { Trans, useLingui } from '@lingui/react/macro'
import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useHolds, useMay, useSettings, useTenant } from '../../app/session'
import { billingKey } from '../../parts/BillingFields'
import { Page, Section } from '../../ui/Page'
import { BillingForm } from './settings/BillingForm'
import { DangerZone } from './settings/DangerZone'
import { Facts } from './settings/Facts'
import { LanguageForm } from './settings/LanguageForm'
import { localeOf } from './settings/locale'
import { NameForm } from './settings/NameForm'
import { SettingsTabs } from './settings/SettingsTabs'

/** The settings of the organization: name, language, billing details, and irreversible actions. */
export default function Settings() {
  const { t } = useLingui()
  const holds = useHolds()
  const may = useMay()
  const tenant = useTenant()
  const { locales } = useSettings()
  const { hash } = useLocation()
  useEffect(() => {
    if (hash) document.getElementById(hash)?.scrollIntoView()
  }, [hash])
  return (
    <Page title={t`Settings`} lead={holds('tenant.update') ? undefined : <Trans>Only members with the permission to manage the organization can change these details.</Trans>}>
      <SettingsTabs />
      {may('tenant.update')
        ? (
            // After a save or an undo, a form starts again with the current values. The others keep their changes.
            <div className="forms">
              <Section className="" title={<Trans>Organization</Trans>}><NameForm key={JSON.stringify([tenant.name, tenant.slug])} /></Section>
              {locales.length > 1 && <Section title={<Trans>Language</Trans>}><LanguageForm key={localeOf(tenant, locales)} /></Section>}
              <Section id="billing" title={<Trans>Billing details</Trans>} lead={<Trans>They appear on invoices, starting with the next one.</Trans>}><BillingForm key={billingKey(tenant)} /></Section>
            </div>
          )
        : <Facts />}
      <DangerZone />
    </Page>
  )
}
