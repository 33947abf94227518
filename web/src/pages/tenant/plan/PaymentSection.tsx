import { Plural, Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useHolds, useMay, useTenant } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { Status } from '../../../ui/Status'
import { endsBefore, useMethodWords, validUntil } from '../shared/method'
import { usePaymentMethod } from '../shared/reads'
import { PortalButton } from '../shared/Portal'
import { DiscountLine } from './DiscountLine'
import { canChange } from './usePreview'

/** How the invoices are paid: charged, or sent with a number of days to pay. */
function Terms({ of }: { of: Schema<'Subscription'> }) {
  const format = useFormat()
  const price = format.money(of.price_cents, of.currency)
  const order = of.purchase_order
  if (of.collection === 'card' && !of.custom_price && !order) return null
  return (
    <>
      {of.collection === 'invoice' && (
        <li><span><b><Trans>Paid by invoice</Trans></b> <span className="muted"><Plural value={of.days_until_due ?? 0} _0="due on receipt" one="due within # day" other="due within # days" /></span></span></li>
      )}
      {order && <li><span><Trans>Purchase order: {order}</Trans></span></li>}
      {of.custom_price && <li><span>{of.plan.pricing_type === 'seat' ? <Trans>Agreed price: {price} per seat. List prices do not affect it.</Trans> : <Trans>Agreed price: {price}. List prices do not affect it.</Trans>}</span></li>}
    </>
  )
}

/**
 * The payment method and the invoice recipient. Cards are stored and changed only at the payment
 * provider.
 */
export function PaymentSection({ subscription, className }: { subscription: Schema<'Subscription'> | null; className?: string }) {
  const holds = useHolds()
  const may = useMay()
  const tenant = useTenant()
  const method = usePaymentMethod().data?.data
  const words = useMethodWords()
  const until = method && validUntil(method)
  const to = tenant.billing_email ?? tenant.owner?.email ?? ''
  if (!holds('billing.manage') || !subscription) return null
  return (
    <Section className={className} title={<Trans>Payment</Trans>}>
      <ul className="list">
        <Terms of={subscription} />
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
        {may('billing.manage') && canChange(subscription) && <DiscountLine subscription={subscription} />}
      </ul>
    </Section>
  )
}
