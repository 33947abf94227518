import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { $api, type Schema } from '../../api/client'
import { currenciesOf, firstCurrency } from '../../app/plans'
import { meQuery, useSettings } from '../../app/session'
import { Out } from '../../shell/Out'
import { ButtonLink } from '../../ui/Button'
import { CurrencyChoice } from '../../ui/CurrencyChoice'
import { Empty } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { plansQuery, productsQuery } from './catalog'
import { PlanCards } from './PlanCards'

/** The available plans, in the visitor's currency and language. */
export default function Pricing() {
  const { t, i18n } = useLingui()
  const { app_name, default_currency } = useSettings()
  const navigate = useNavigate()
  const { currency: wish } = useSearch({ strict: false }) as { currency?: string }
  const me = useQuery(meQuery).data
  const plans = useQuery(plansQuery(i18n.locale))
  const tenantId = me?.user.tenants.find((one) => one.id === me.currentTenant?.id && one.onboarding_completed_at)?.id
  const own = $api.useQuery('get', '/api/v1/tenant/{tenantId}/plans', { params: { path: { tenantId: tenantId ?? '' } } }, { enabled: !!tenantId })
  const products = useQuery(productsQuery(i18n.locale))
  return (
    <Out
      wide title={t`Plans`}
      end={me ? <Link to="/"><Trans>Go to home page</Trans></Link> : <Trans>Already have an account? <Link to="/sign-in">Sign in</Link></Trans>}
    >
      <Read query={plans}>
        {(all) => {
          const currency = firstCurrency(all, wish, default_currency)
          // A tenant gets only one trial.
          const hasTrial = (plan: Schema<'Plan'>) => (own.data ? own.data.data.some((one) => one.id === plan.id && one.trial_days > 0) : plan.trial_days > 0)
          const choose = (code: string) => void navigate({ to: '/pricing', search: { currency: code }, replace: true })
          const groups = (products.data ?? []).map((product) => ({ product, plans: all.filter((plan) => plan.product_id === product.id) })).filter((one) => one.plans.length > 0)
          if (all.length === 0) return <Empty level="h1" icon="plan" title={<Trans>No plans available yet</Trans>}><Trans>Check back later or contact the {app_name} team.</Trans></Empty>
          return (
            <>
              <div className="page-head">
                <div>
                  <h1><Trans>{app_name} plans</Trans></h1>
                  <p><Trans>Change or cancel anytime. Changes are prorated.</Trans></p>
                </div>
                <div className="acts"><CurrencyChoice currencies={currenciesOf(all)} value={currency} onChange={choose} /></div>
              </div>
              {groups.map(({ product, plans }) => (
                <section key={product.id} className="sec first-plain">
                  {groups.length > 1 && <div className="sec-head"><h2>{product.name}</h2>{product.description && <p>{product.description}</p>}</div>}
                  <PlanCards
                    plans={plans} currency={currency} hasTrial={hasTrial} onCurrency={choose}
                    action={(plan) => (
                      <ButtonLink block to="/onboarding" search={{ plan: plan.slug, currency }}>
                        {hasTrial(plan) ? <Trans>Try {plan.name}</Trans> : <Trans>Choose {plan.name}</Trans>}
                      </ButtonLink>
                    )}
                  />
                </section>
              ))}
            </>
          )
        }}
      </Read>
    </Out>
  )
}
