import { redirect } from 'next/navigation'
import { visitor, whoIsIt } from '../lib/tenantry'
import { Enter } from './enter'
import { Shout } from './shout'

export default async function Home() {
  const [me, tenantry] = await Promise.all([whoIsIt(), visitor()])
  if (!me?.currentTenant) {
    const { data } = await tenantry.GET('/api/v1/catalog/plans', { params: { query: { currency: 'EUR' } } })
    const price = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' })
    const plans = data.flatMap(({ slug, name, billing_cycle, prices: [first] }) =>
      first ? [{ slug, label: `${name}, ${price.format(first.price_cents / 100)} ${billing_cycle}` }] : [],
    )
    return <Enter plans={plans} />
  }
  if (!me.user.tenants[0]?.onboarding_completed_at) redirect('/onboarding/success')
  const params = { path: { tenantId: me.currentTenant.id } }
  const { data } = await tenantry.GET('/api/v1/tenant/{tenantId}/usage/quotas', { params })
  const letters = data.meters.find((meter) => meter.meter_code === 'api-calls')
  return <Shout organization={me.currentTenant.name} used={letters?.current_usage ?? 0} limit={letters?.quota_limit ?? null} />
}
