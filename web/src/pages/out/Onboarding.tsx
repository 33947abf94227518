import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api } from '../../api/client'
import { firstCurrency } from '../../app/plans'
import { meQuery, useSettings, useSignOut } from '../../app/session'
import { Out } from '../../shell/Out'
import { Icon } from '../../ui/Icon'
import { Read } from '../../ui/Read'
import { Problem, Skeleton } from '../../ui/Messages'
import { plansQuery } from './catalog'
import { AccountStep } from './onboarding/AccountStep'
import { forgetChoice, keepChoice, keptChoice } from './onboarding/storage'
import { CompleteStep, DetailsStep } from './onboarding/DetailsStep'
import { OrganizationStep } from './onboarding/OrganizationStep'
import { PaymentStep } from './onboarding/PaymentStep'
import { PlanStep } from './onboarding/PlanStep'
import { WaitStep } from './onboarding/WaitStep'

/** The choices so far. They are in the URL, so a reload or the back button keeps them. The last plan is also stored. */
export interface Choice {
  plan?: string
  currency: string
  seats: number
  /** The promotion code, which may be refused. */
  code?: string
}

/**
 * Leads a new customer from the plan to a subscription: account, plan, payment, details. The
 * current step follows only from the account and the service, so a reload, the back button and a
 * failed payment lead to the right step.
 */
export default function Onboarding() {
  const { t, i18n } = useLingui()
  const { default_currency } = useSettings()
  const search = useSearch({ strict: false }) as Record<string, string | undefined>
  const signOut = useSignOut()
  const me = useQuery(meQuery)
  const tenant = me.data?.currentTenant
  const status = useQuery({
    queryKey: ['onboarding'],
    enabled: !!tenant,
    queryFn: async () => (await api.GET('/api/v1/onboarding/status')).data!,
    refetchInterval: (query) => (search.paid && !query.state.data?.has_subscription ? 2000 : false),
  })
  const plans = useQuery(plansQuery(i18n.locale))
  const email = me.data?.user.email

  const done = !!me.data && !!status.data?.onboarding_completed && status.data.has_subscription
  // A page without choices continues with the stored ones. A page with a currency shows the plans.
  const kept = search.left || !search.currency ? keptChoice() : {}
  const choice: Choice = {
    plan: plans.data?.find((plan) => plan.slug === (search.plan ?? kept.plan))?.slug,
    currency: firstCurrency(plans.data ?? [], search.currency ?? kept.currency, default_currency),
    seats: Math.max(1, Number(search.seats ?? (search.plan ? undefined : kept.seats)) || 1),
    code: search.code ?? (search.plan ? undefined : kept.code),
  }
  const stored = JSON.stringify(choice)
  useEffect(() => {
    if (done) forgetChoice()
    else if (choice.plan) keepChoice(choice)
  }, [done, stored]) // stored is the choice as text

  if (done) return <Navigate to="/" replace />
  // A visitor chooses the plan first, because registration includes it.
  const steps = me.data ? [t`Account`, t`Plan`, t`Payment`, t({ message: 'Details', context: 'a step' })] : [t`Plan`, t`Account`, t`Payment`, t({ message: 'Details', context: 'a step' })]
  const [at, step] = (() => {
    if (me.isPending || plans.isPending) return [0, <Skeleton key="wait" lines={5} />] as const
    if (me.isError) return [0, <Problem key="error" error={me.error} onRetry={() => void me.refetch()} />] as const
    if (plans.isError) return [0, <Problem key="error" error={plans.error} onRetry={() => void plans.refetch()} />] as const
    if (!me.data) return choice.plan ? ([1, <AccountStep key="account" choice={choice} plans={plans.data} />] as const) : ([0, <PlanStep key="plan" choice={choice} plans={plans.data} />] as const)
    if (!tenant) return [0, <OrganizationStep key="organization" />] as const
    if (!status.data) return [2, <Read key="status" query={status}>{() => null}</Read>] as const
    if (status.data.has_subscription && status.data.has_billing_details) return [3, <CompleteStep key="complete" />] as const
    if (status.data.has_subscription) return [3, <DetailsStep key="details" status={status.data} />] as const
    if (search.paid) return [2, <WaitStep key="wait" />] as const
    if (!choice.plan) return [1, <PlanStep key="plan" choice={choice} plans={plans.data} canSkip />] as const
    return [2, <PaymentStep key="payment" choice={choice} plans={plans.data} left={search.left === '1'} status={status.data} />] as const
  })()
  return (
    <Out
      title={t`Get started`} board
      end={email && <>{email} · <button type="button" className="as-link" onClick={() => void signOut()}><Trans>Sign out</Trans></button></>}
    >
      <ol className="steps board-steps">
        {steps.map((name, i) => (
          <li key={name} className={i < at ? 'done' : undefined} aria-current={i === at ? 'step' : undefined}>
            <i>{i < at ? <Icon name="check" /> : i + 1}</i><span>{name}</span>
          </li>
        ))}
      </ol>
      {step}
    </Out>
  )
}
