import { Trans, useLingui } from '@lingui/react/macro'
import { $api } from '../../api/client'
import { useFormat } from '../../app/format'
import { useTenant } from '../../app/session'
import { Skeleton } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { Bought } from './plan/Bought'
import { CancelSection } from './plan/CancelSection'
import { Chooser } from './plan/Chooser'
import { PendingChange } from './plan/PendingChange'
import { useHere, usePaymentMethod, useSubscription, useTeamStats } from './shared/reads'
import { useWords } from './shared/words'

/** The plans side by side with what one gains and loses, what a change costs, and the end of the subscription. */
export default function Plan() {
  const { t } = useLingui()
  const words = useWords()
  const format = useFormat()
  const here = useHere()
  const { preferred_currency } = useTenant()
  const read = useSubscription()
  const subscription = read.data?.data
  const currency = subscription?.currency ?? preferred_currency
  const plans = $api.useQuery('get', '/api/v1/tenant/{tenantId}/plans', { params: { ...here.params, query: { currency } } }, { enabled: read.isSuccess })

  // What comes piece by piece would push the rest down; it comes at once.
  const pending = [read, plans, useTeamStats(), usePaymentMethod()].some((one) => one.isLoading)

  const what = subscription ? words.planWithSeats(subscription.plan.name, subscription.plan.pricing_type, subscription.quantity) : ''
  const until = subscription ? format.day(subscription.cancel_at ?? subscription.current_period_end) : ''
  const lead = !subscription
    ? read.isSuccess && <Trans>Choose a plan to begin. You see what it costs before anything is charged.</Trans>
    : subscription.cancel_at ? <Trans>You are on {what}. It ends on {until}.</Trans>
      : subscription.status === 'trialing' ? <Trans>You are on {what}, free until {until}.</Trans>
        : subscription.status === 'active' ? <Trans>You are on {what}, paid until {until}.</Trans>
          : <Trans>You are on {what}.</Trans>
  if (pending) return <Page title={t`Plan`} heading={null}><Skeleton lines={8} /></Page>
  return (
    <Page title={t`Plan`} heading={subscription ? t`Change plan` : t`Choose a plan`} lead={lead}>
      <Bought subscription={subscription ?? null} />
      {subscription?.pending_change && <div className="attention"><PendingChange change={subscription.pending_change} /></div>}
      <Read query={read} lines={6}>
        {({ data: current }) => (
          <>
            <Read query={plans} lines={8}>{({ data }) => <Chooser plans={data} subscription={current} currency={currency} />}</Read>
            {current && <CancelSection subscription={current} />}
          </>
        )}
      </Read>
    </Page>
  )
}
