import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useMay, useTenant } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { Status } from '../../../ui/Status'
import { endsBefore, useMethodWords, validUntil } from '../shared/method'
import { usePaymentMethod } from '../shared/reads'
import { PortalButton } from '../shared/Portal'

/**
 * The payment method and the invoice recipient. Cards are stored and changed only at the payment
 * provider.
 */
export function PaymentSection({ subscription, className }: { subscription: Schema<'Subscription'> | null; className?: string }) {
  const may = useMay()
  const tenant = useTenant()
  const method = usePaymentMethod().data?.data
  const words = useMethodWords()
  const until = method && validUntil(method)
  const to = tenant.billing_email ?? tenant.owner?.email ?? ''
  if (!may('billing.manage') || !subscription) return null
  return (
    <Section className={className} title={<Trans>Payment method</Trans>}>
      <ul className="list">
        <li>
          <span>
            {method
              ? (
                  <>
                    <b>{words(method)}</b>
                    {until && <> <span className="muted nowrap"><Trans>valid until {until}</Trans></span></>}
                    {method.holder && <small className="muted line">{method.holder}</small>}
                    {endsBefore(method, subscription.current_period_end) && <Status tone="warn"><Trans>Expires before the next payment. Add another card in time.</Trans></Status>}
                  </>
                )
              : <Trans>The payment provider stores your cards and bank accounts. You can view and change them there.</Trans>}
          </span>
          <span className="end"><PortalButton size="s"><Trans>Change payment method</Trans></PortalButton></span>
        </li>
        <li>
          <span><Trans>Invoices go to {to}.</Trans></span>
          {may('tenant.update') && <span className="end"><ButtonLink size="s" to="/settings" hash="billing"><Trans>Billing details</Trans></ButtonLink></span>}
        </li>
      </ul>
    </Section>
  )
}
