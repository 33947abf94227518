import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link, useMatches, useNavigate } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { countQuery } from '../lists/reads'
import { usePlatformMay } from '../may'

const paths = {
  overview: '/platform/tenants/$tenantId',
  usage: '/platform/tenants/$tenantId/usage',
  invoices: '/platform/tenants/$tenantId/invoices',
  people: '/platform/tenants/$tenantId/people',
  keys: '/platform/tenants/$tenantId/keys',
  activity: '/platform/tenants/$tenantId/activity',
} as const
type Tab = keyof typeof paths

/** The tabs of a tenant's page; on a phone, a selection. */
export function Tabs({ of }: { of: Schema<'AdminTenant'> }) {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const navigate = useNavigate()
  // Unlike the location, the matches stay until the next page is loaded.
  const here = useMatches({ select: (matches) => matches.at(-1)?.pathname.replace(/\/$/, '') ?? '' })
  const members = format.number(of.member_count)
  const counted = useQuery(countQuery('invoices', { 'filter[tenant]': of.id })).data
  const invoices = counted && format.number(counted.total)
  const tabs: { tab: Tab; label: string; count?: string }[] = [
    { tab: 'overview', label: t`Overview` },
    { tab: 'usage', label: t`Usage and limits` },
    { tab: 'invoices', label: t`Invoices`, count: invoices },
    { tab: 'people', label: t`People`, count: members },
    ...(may('api_keys.manage') || may('webhooks.manage') ? [{ tab: 'keys' as const, label: t`Keys and webhooks` }] : []),
    ...(may('logs.view') ? [{ tab: 'activity' as const, label: t`Activity` }] : []),
  ]
  const current = tabs.find(({ tab }) => tab !== 'overview' && `${here}/`.includes(`/${tab}/`))?.tab ?? 'overview'
  const params = { tenantId: of.id }
  return (
    <div className="tabs-row">
      <nav className="tabs" aria-label={t`Tenant`}>
        {tabs.map(({ tab, label, count }) => (
          <Link key={tab} to={paths[tab]} params={params} activeProps={{}} activeOptions={{ exact: true }} aria-current={tab === current ? 'page' : undefined} resetScroll={false}>
            {label} {count && <span>{count}</span>}
          </Link>
        ))}
      </nav>
      <div className="tabs-pick">
        <select className="select" aria-label={t`Section`} value={current} onChange={(event) => void navigate({ to: paths[event.target.value as Tab], params, resetScroll: false })}>
          {tabs.map(({ tab, label, count }) => <option key={tab} value={tab}>{count ? `${label} (${count})` : label}</option>)}
        </select>
      </div>
    </div>
  )
}
