import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useMay, useTenant } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { PortalButton } from '../shared/Portal'

/** How it is paid and where invoices go. Cards are kept and changed at the payment provider only. */
export function PaymentSection({ subscription, className }: { subscription: Schema<'Subscription'> | null; className?: string }) {
  const may = useMay()
  const tenant = useTenant()
  if (!may('billing.manage') || !subscription) return null
  const to = tenant.billing_email ?? tenant.owner?.email ?? ''
  return (
    <Section className={className} title={<Trans>Payment</Trans>}>
      <ul className="list">
        <li>
          <span><Trans>Cards and bank accounts are kept by the payment provider. You see and change them there.</Trans></span>
          <span className="end"><PortalButton size="s"><Trans>Change how you pay</Trans></PortalButton></span>
        </li>
        <li>
          <span><Trans>Invoices go to {to}.</Trans></span>
          {may('tenant.update') && <span className="end"><ButtonLink size="s" to="/settings" hash="billing"><Trans>Billing details</Trans></ButtonLink></span>}
        </li>
      </ul>
    </Section>
  )
}
