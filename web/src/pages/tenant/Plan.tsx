import { Trans, useLingui } from '@lingui/react/macro'
import { $api } from '../../api/client'
import { useFormat } from '../../app/format'
import { useFilters } from '../../app/filters'
import { currenciesOf, firstCurrency } from '../../app/plans'
import { useMay, useSettings, useTenant } from '../../app/session'
import { CurrencyChoice } from '../../ui/CurrencyChoice'
import { Skeleton } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { AddCard, asksForCard } from './plan/AddCard'
import { Bought } from './plan/Bought'
import { CancelSection } from './plan/CancelSection'
import { Chooser } from './plan/Chooser'
import { FirstPayment } from './plan/FirstPayment'
import { PendingChange } from './plan/PendingChange'
import { PlanTabs } from './plan/PlanTabs'
import { scheduledOf } from '../../parts/scheduled'
import { ScheduledChange } from './plan/ScheduledChange'
import { OpenInvoice } from './invoices/OpenInvoice'
import { CreditSection } from './plan/CreditSection'
import { byUrgency, sumsOf } from './shared/bill'
import { useCredit, useHere, useNewestInvoices, useOpenInvoices, usePaymentMethod, useSubscription, useTeamStats } from './shared/reads'
import { useWords } from './shared/words'

/** The open invoices, as on the home page. */
function OpenInvoices() {
  const open = useOpenInvoices().data?.data ?? []
  return open.length > 0 && <div className="stack attention">{byUrgency(open).map((invoice) => <OpenInvoice key={invoice.id} invoice={invoice} />)}</div>
}

/** The plans side by side with their differences, the cost of a change, and the cancellation. */
export default function Plan() {
  const { t } = useLingui()
  const words = useWords()
  const format = useFormat()
  const here = useHere()
  const mayChange = useMay()('billing.manage')
  const { preferred_currency } = useTenant()
  const { default_currency } = useSettings()
  const [search, filter] = useFilters()
  const read = useSubscription()
  const subscription = read.data?.data
  // Without a subscription the user can choose any currency in which plans are sold.
  const catalog = $api.useQuery('get', '/api/v1/catalog/plans', {}, { enabled: read.isSuccess && !subscription })
  const currency = subscription?.currency ?? firstCurrency(catalog.data?.data ?? [], search.currency, default_currency, preferred_currency)
  const known = subscription !== null || catalog.isFetched
  const plans = $api.useQuery('get', '/api/v1/tenant/{tenantId}/plans', { params: { ...here.params, query: { currency } } }, { enabled: read.isSuccess && known })
  const former = (useNewestInvoices().data?.meta.total ?? 0) > 0
  const owed = format.list(sumsOf(useOpenInvoices().data?.data.filter((one) => one.payment_action) ?? []).map((one) => format.sum(one)))

  // Show everything at the same time, so that the content does not move while it loads.
  const pending = [read, catalog, plans, useTeamStats(), usePaymentMethod(), useCredit(), useNewestInvoices(), useOpenInvoices()].some((one) => one.isLoading)

  const standard = catalog.data?.data.find((one) => one.is_default)?.name
  const what = subscription ? words.planWithSeats(subscription.plan.name, subscription.plan.pricing_type, subscription.quantity) : standard ?? ''
  const method = usePaymentMethod().data?.data
  const addsCard = asksForCard(subscription ?? null, method)
  const change = scheduledOf(subscription ?? null)
  const next = change?.plan.name
  const unpaid = subscription?.status === 'incomplete' && subscription.payment_action && search.checkout !== 'paid' && !owed
  const slugs = Object.fromEntries((plans.data?.data ?? []).map((one) => [one.id, one.slug]))
  const until = subscription ? format.day(subscription.cancel_at ?? subscription.current_period_end) : ''
  const lead = !subscription
    ? standard ? <Trans>You are on {what}.</Trans> : read.isSuccess && mayChange && (former
      ? <Trans>You do not have a plan at the moment. You will see the price before you are charged.</Trans>
      : <Trans>Choose a plan to get started. You will see the price before you are charged.</Trans>)
    : owed ? <Trans>You are on {what}. {owed} is due.</Trans>
    : subscription.cancel_at ? <Trans>You are on {what}. It ends on {until}.</Trans>
    : change && next !== subscription.plan.name ? <Trans>You are on {what}. It changes to {next} on {until}.</Trans>
      : subscription.status === 'trialing' ? <Trans>You are on {what}, free until {until}.</Trans>
        : subscription.status === 'active' ? <Trans>You are on {what}, paid until {until}.</Trans>
          : <Trans>You are on {what}.</Trans>
  if (pending) return <Page title={t`Plan`} heading={null}><Skeleton lines={8} /></Page>
  return (
    <Page title={t`Plan`} heading={mayChange ? subscription ? t`Change plan` : t`Choose a plan` : undefined} lead={lead}
      actions={!subscription && <CurrencyChoice currencies={currenciesOf(catalog.data?.data ?? [])} value={currency} onChange={(code) => filter({ currency: code })} />}
    >
      <PlanTabs />
      <OpenInvoices />
      <Bought subscription={subscription ?? null} />
      {addsCard && <div className="attention"><AddCard subscription={addsCard} /></div>}
      {unpaid && <div className="attention"><FirstPayment subscription={subscription} /></div>}
      {subscription?.pending_change && <div className="attention">{change ? <ScheduledChange subscription={subscription} withDates slugs={slugs} /> : <PendingChange change={subscription.pending_change} />}</div>}
      <Read query={read} lines={6}>
        {({ data: current }) => (
          <>
            <Read query={plans} lines={8}>{({ data }) => <Chooser plans={data} subscription={current} currency={currency} catalog={catalog.data?.data ?? []} />}</Read>
            <CreditSection />
            {current && <CancelSection subscription={current} />}
          </>
        )}
      </Read>
    </Page>
  )
}
