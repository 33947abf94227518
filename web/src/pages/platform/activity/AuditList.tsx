import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { pageOf, useFilters } from '../../../app/filters'
import { useMe } from '../../../app/session'
import { Events } from '../../../parts/timeline/Events'
import type { Entry } from '../../../parts/timeline/types'
import { Button } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { allFeaturesQuery, allProductsQuery } from '../catalog/reads'
import { nameIn } from '../catalog/texts'
import { usePlatformMay } from '../may'

/** The trail knows people by their numbers: the reader by name, others as a person with a number. */
function usePeople(): (id: number | null) => Entry['actor'] {
  const { t } = useLingui()
  const { user } = useMe()
  return (id) => (id === null ? null : { id, name: id === user.id ? user.name : t`Person ${id}` })
}

/** The names of what the catalog has, by id: an entry of the trail holds only what was changed. */
function useNames(): Map<string, string> {
  const { i18n } = useLingui()
  const may = usePlatformMay()
  const products = useQuery({ ...allProductsQuery, enabled: may('products.view') }).data ?? []
  const features = useQuery({ ...allFeaturesQuery, enabled: may('features.view') }).data ?? []
  const name = (of: { translations: Record<string, Schema<'Translation'>> }) => nameIn(of.translations, i18n.locale)
  const plans = products.flatMap((one) => one.plans ?? [])
  return new Map([
    ...products.map((one) => [one.id, name(one)] as const), ...features.map((one) => [one.id, name(one)] as const), ...plans.map((one) => [one.id, name(one)] as const),
    ...plans.flatMap((one) => one.prices.map((price) => [price.id, `${name(one)} (${price.currency})`] as const)),
  ])
}

function useEntries(): (found: Schema<'AuditEntry'>[]) => Entry[] {
  const { t } = useLingui()
  const person = usePeople()
  const names = useNames()
  return (found) => found.map((one) => ({
    id: `audit-${one.id}`, type: one.action, kind: 'changes', at: one.created_at, tenant: one.tenant_id ? { id: one.tenant_id, name: t`Tenant` } : null,
    actor: person(one.actor_id), acting_as: person(one.subject_id), api_key: one.api_key_id ? { id: one.api_key_id, name: one.api_key_id.slice(0, 8) } : null,
    facts: { resource: one.resource, resource_id: one.resource_id, resource_name: names.get(one.resource_id) ?? null, before: one.before, after: one.after },
  }))
}

/** The audit trail, found by action, person and days. All filters are in the address. */
export function AuditList() {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const entries = useEntries()
  const actor = /^\d+$/.test(search.actor ?? '') ? Number(search.actor) : undefined
  const query = {
    page: pageOf(search), 'filter[action]': search.action, 'filter[actor]': actor, 'filter[tenant]': search.tenant,
    'filter[created_after]': search.after, 'filter[created_before]': search.before,
  }
  const filtered = Boolean(search.action || search.actor || search.after || search.before || search.tenant)
  const trail = useQuery({
    queryKey: ['audit', query],
    queryFn: async () => (await api.GET('/api/v1/admin/audit-logs', { params: { query } })).data!,
    placeholderData: keepPreviousData,
  })
  const field = (name: 'action' | 'actor' | 'after' | 'before', label: string, rest: React.InputHTMLAttributes<HTMLInputElement>) => (
    <label className="filter">
      <span>{label}</span>
      <input key={search[name] ?? ''} className="input dense" defaultValue={search[name] ?? ''} {...rest} onBlur={(event) => { if (event.target.value.trim() !== (search[name] ?? '')) change({ [name]: event.target.value.trim() || undefined }) }} onKeyDown={(event) => { if (event.key === 'Enter') event.currentTarget.blur() }} />
    </label>
  )
  return (
    <>
      <div className="toolbar filters">
        {field('action', t`Action`, { placeholder: 'plan.updated', list: 'actions' })}
        {field('actor', t`Person, by number`, { inputMode: 'numeric' })}
        {field('after', t`From`, { type: 'date' })}
        {field('before', t`Until`, { type: 'date' })}
        {filtered && <Button size="s" look="quiet" icon="x" onClick={() => change({ action: undefined, actor: undefined, after: undefined, before: undefined, tenant: undefined })}><Trans>All again</Trans></Button>}
      </div>
      <Read query={trail} lines={9}>
        {(found) => found.data.length === 0
          ? <Empty slim icon="activity" title={filtered ? <Trans>Nothing fits these filters</Trans> : <Trans>Nothing was changed yet</Trans>}>{!filtered && <Trans>Every change by anybody is recorded here and cannot be altered.</Trans>}</Empty>
          : <><Events entries={entries(found.data)} byDay withTenant /><Pager meta={found.meta} /></>}
      </Read>
      <datalist id="actions">{['plan.updated', 'plan_price.psp_created', 'member.role_changed', 'member.removed', 'invitation.created', 'tenant.updated', 'tenant.deleted', 'subscription.canceled', 'subscription.plan_changed', 'invoice.voided', 'api_key.created', 'impersonation.started'].map((one) => <option key={one} value={one} />)}</datalist>
    </>
  )
}
