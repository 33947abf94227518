import { Trans, useLingui } from '@lingui/react/macro'
import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useMay, useTenant } from '../../app/session'
import { Page, Section } from '../../ui/Page'
import { BillingForm } from './settings/BillingForm'
import { DangerZone } from './settings/DangerZone'
import { Facts } from './settings/Facts'
import { NameForm } from './settings/NameForm'

/** The organization: its name, what is printed on invoices, and what cannot be undone. */
export default function Settings() {
  const { t } = useLingui()
  const may = useMay()
  const tenant = useTenant()
  const { hash } = useLocation()
  useEffect(() => {
    if (hash) document.getElementById(hash)?.scrollIntoView()
  }, [hash])
  return (
    <Page title={t`Settings`} lead={may('tenant.update') ? undefined : <Trans>Only who may manage the organization can change this.</Trans>}>
      {may('tenant.update')
        ? (
            // Saved or taken back, the forms begin anew with what holds.
            <div className="forms" key={tenant.updated_at}>
              <Section className="" title={<Trans>Organization</Trans>}><NameForm /></Section>
              <Section id="billing" title={<Trans>Billing details</Trans>} lead={<Trans>They are printed on invoices from the next one on.</Trans>}><BillingForm /></Section>
            </div>
          )
        : <Facts />}
      <DangerZone />
    </Page>
  )
}
