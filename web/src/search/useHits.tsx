import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client'
import type { IconName } from '../ui/Icon'
import { InvoiceState, Status, SubscriptionState } from '../ui/Status'
import { groupNames, searchQuery, type Group, type Hit } from './reads'
import type { Found, Scope } from './types'

/** The number of objects of a group to show. */
const most = 3

const icons: Record<Group, IconName> = { tenants: 'building', users: 'person', members: 'person', plans: 'plan', invoices: 'receipt', meters: 'gauge', api_keys: 'key' }

/** The state of a found object. Other states than those of tenants and invoices are words of the service. */
function State({ group, status }: { group: Group; status: string | null }) {
  const { t } = useLingui()
  if (group === 'tenants') {
    if (status === 'deleted') return <Status tone="off">{t`Deleted`}</Status>
    return <SubscriptionState status={status === 'none' ? null : status as Schema<'SubscriptionStatus'> | null} />
  }
  if (!status) return null
  if (group === 'invoices' && status === 'open') return <Status tone="wait"><Trans context="an invoice">Open</Trans></Status>
  if (group === 'invoices') return <InvoiceState status={status as Schema<'InvoiceStatus'>} />
  const words: Record<string, string> = {
    active: t`Active`, inactive: t`Inactive`, expired: t`Expired`, revoked: t`Revoked`, archived: t`Archived`, owner: t`Owner`, admin: t`Admin`, member: t`Member`,
  }
  return <span>{words[status] ?? status}</span>
}

/** Returns the objects that match, by group in a fixed order, and the tenant that matches best. */
export function useHits(scope: Scope | undefined, sought: string): { found: Found[]; top: Hit | undefined; isLoading: boolean; isFailed: boolean } {
  const { t } = useLingui()
  const enabled = scope !== undefined && sought.length > 1
  const query = useQuery({ ...searchQuery(scope ?? 'platform', sought), enabled })
  const names: Record<Group, string> = {
    tenants: t`Tenants`, users: t`People`, members: t`People`, plans: t`Plans`, invoices: t`Invoices`, meters: t`Meters`, api_keys: t`API keys`,
  }
  const data = enabled ? query.data : undefined
  const found = groupNames.flatMap((group) => (data?.[group] ?? []).slice(0, most).map((hit): Found => ({
    key: `${group} ${hit.id}`, group: names[group], icon: icons[group], title: hit.title, subtitle: hit.subtitle ?? undefined, url: hit.url, end: <State group={group} status={hit.status} />,
  })))
  return { found, top: data?.tenants?.[0], isLoading: enabled && query.isFetching, isFailed: enabled && query.isError }
}
