import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFilters } from '../../../app/filters'
import { Timeline } from '../../../parts/timeline/Timeline'
import { tenantPages } from '../../../parts/timeline/reads'
import type { Entry, Kind } from '../../../parts/timeline/types'
import { Chips } from '../../../ui/Chips'
import { Confirm } from '../../../ui/Confirm'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'

const kinds: Kind[] = ['payments', 'changes', 'usage', 'webhooks']

/** The invoices among entries that are still open: issued, and neither paid nor given up since. */
function openInvoices(entries: Entry[]): Set<string> {
  const closed = new Set(entries.filter((one) => /^invoice\.(paid|voided|uncollectible)$/.test(one.type)).map((one) => one.facts.invoice_id))
  return new Set(entries.flatMap(({ type, facts }) => (type === 'invoice.issued' && facts.invoice_id && !closed.has(facts.invoice_id) ? [facts.invoice_id] : [])))
}

/** What happened to a tenant: payments, changes, limits and webhooks in one line of time. */
export function History({ tenant }: { tenant: Schema<'AdminTenant'> }) {
  const { t } = useLingui()
  const may = usePlatformMay()
  const queries = useQueryClient()
  const [search] = useFilters()
  const kind = kinds.find((one) => one === search.kind)
  const pages = tenantPages(tenant.id, kind)
  const known = useInfiniteQuery(pages).data?.pages.flatMap((page) => page.data) ?? []
  const open = openInvoices(known)
  const [voiding, setVoiding] = useState<Entry>()
  const number = voiding?.facts.number ?? ''
  const act = (entry: Entry) => entry.type === 'invoice.issued' && entry.facts.invoice_id && open.has(entry.facts.invoice_id) && may('tenants.manage') && !tenant.deleted_at
    ? <button type="button" className="as-link" onClick={() => setVoiding(entry)}><Trans>Void it</Trans></button>
    : null
  return (
    <div>
      <div className="toolbar">
        <Chips
          name="kind" value={kind} label={t`Show`}
          options={[
            { value: 'all', label: t`Everything` }, { value: 'payments', label: t`Payments` }, { value: 'changes', label: t`Changes` },
            { value: 'usage', label: t`Limits` }, { value: 'webhooks', label: t`Webhooks` },
          ]}
        />
      </div>
      <Timeline pages={pages} filtered={kind !== undefined} action={act} />
      <Confirm
        open={voiding !== undefined} onClose={() => setVoiding(undefined)} title={<Trans>Void invoice {number}?</Trans>} action={<Trans>Void the invoice</Trans>}
        onConfirm={async () => {
          await api.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/void', { params: { path: { tenant: tenant.id, invoice: voiding!.facts.invoice_id! } } })
          await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['timeline'] })])
          toast(<Trans>Invoice {number} is void.</Trans>)
        }}
      >
        <p><Trans>Nobody can pay it any more, here or at the payment provider. It stays in the list with its number. This cannot be undone.</Trans></p>
      </Confirm>
    </div>
  )
}
