import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Copy } from '../../../ui/Copy'
import { Problem } from '../../../ui/Messages'
import { billingQuery } from './reads'

/** Returns a function that describes a payment method. */
export function useMethodWords(): (of: Schema<'PaymentMethod'>) => string {
  const { t } = useLingui()
  return ({ type, brand, last4, exp_month: month, exp_year: year }) => {
    const types: Record<string, string> = { card: t`Card`, sepa_debit: t`SEPA direct debit`, bank_transfer: t`Bank transfer`, paypal: 'PayPal', link: 'Link' }
    const brands: Record<string, string> = { visa: 'Visa', mastercard: 'Mastercard', amex: 'American Express', discover: 'Discover', jcb: 'JCB', diners: 'Diners Club', unionpay: 'UnionPay' }
    const plain = (text: string) => text.replaceAll('_', ' ')
    const name = brand ? (brands[brand] ?? plain(brand)) : (types[type] ?? plain(type))
    const number = last4 ? `${name} ${last4}` : name
    const until = month && year ? `${String(month).padStart(2, '0')}/${year}` : ''
    return until ? t`${number}, expires ${until}` : number
  }
}

function Failed({ of }: { of: Schema<'FailedPayment'> }) {
  const format = useFormat()
  const { number } = of
  const amount = format.money(of.amount, of.currency)
  const day = format.day(of.at)
  return (
    <>
      <div>
        <dt><Trans>Failed</Trans></dt>
        <dd>
          <b className="bad">{amount}</b> <Trans>on {day}</Trans>{number && <>, <Trans>invoice {number}</Trans></>}
          {of.decline_message && <small className="block">{of.decline_message}</small>}
          {of.decline_code && <small className="block faint"><code>{of.decline_code}</code></small>}
        </dd>
      </div>
      <div>
        <dt><Trans>Next attempt</Trans></dt>
        <dd>{of.next_attempt_at ? format.exact(of.next_attempt_at) : <Trans>None: the customer has to pay</Trans>}</dd>
      </div>
    </>
  )
}

/** The last failed payment, the payment method, and the customer at the payment provider. */
export function PaymentFacts({ id }: { id: string }) {
  const words = useMethodWords()
  const billing = useQuery(billingQuery(id))
  if (billing.isError && !billing.data) return <Problem error={billing.error} onRetry={() => void billing.refetch()} retrying={billing.isFetching} />
  const of = billing.data
  if (!of) return null
  return (
    <dl className="dl more">
      {of.failed_payment && <Failed of={of.failed_payment} />}
      <div><dt><Trans>Payment method</Trans></dt><dd>{of.payment_method ? words(of.payment_method) : <span className="faint"><Trans>None yet</Trans></span>}{of.payment_method?.holder && <small className="block faint">{of.payment_method.holder}</small>}</dd></div>
      {of.customer && (
        <div>
          <dt><Trans>At the provider</Trans></dt>
          <dd><Copy text={of.customer} />{of.provider_url && <> <a className="nowrap" href={of.provider_url} target="_blank" rel="noreferrer"><Trans>Open at provider</Trans></a></>}</dd>
        </div>
      )}
    </dl>
  )
}
