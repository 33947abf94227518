import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { address, api } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { useSettings } from '../../app/session'
import { Button } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { toast } from '../../ui/Toast'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { TenantTable } from './tenants/TenantTable'

type Order = 'created_at' | '-created_at'

function CopySignUp() {
  const { registration_enabled } = useSettings()
  const [copied, setCopied] = useState(false)
  if (!registration_enabled) return null
  const copy = () => navigator.clipboard.writeText(address('/pricing')).then(() => { setCopied(true); toast(<Trans>The link to your plans was copied.</Trans>) })
  return <Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}><Trans>Copy sign-up link</Trans></Button>
}

/**
 * All tenants, searchable by name and sorted by age. Deleted tenants that can be restored are
 * separate.
 */
export default function Tenants() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const deleted = search.show === 'deleted'
  const sort: Order = search.sort === 'created_at' ? 'created_at' : '-created_at'
  const query = { search: search.search, deleted: deleted || undefined, page: pageOf(search), sort: [sort] }
  const tenants = useQuery({
    queryKey: ['tenants', query],
    queryFn: async () => (await api.GET('/api/v1/admin/tenants', { params: { query } })).data!,
    enabled: may('tenants.view'),
    placeholderData: keepPreviousData,
  })
  if (!may('tenants.view')) return <NotAllowed title={t`Tenants`} />
  return (
    <Page title={t`Tenants`} lead={<Trans>The organizations that use your product.</Trans>} actions={<CopySignUp />} wide>
      <div className="toolbar">
        <SearchField label={t`Search by name`} />
        <Chips name="show" value={search.show} label={t`Show`} options={[{ value: 'live', label: t({ message: 'All', context: 'tenants' }) }, { value: 'deleted', label: t({ message: 'Deleted', context: 'tenants' }) }]} />
        {tenants.data && <span className="end" role="status"><Plural value={tenants.data.meta.total} one="# tenant" other="# tenants" /></span>}
      </div>
      <Read query={tenants} lines={9}>
        {(found) => found.data.length === 0
          ? <Nothing searched={search.search} deleted={deleted} />
          : (
            <div className={tenants.isPlaceholderData ? 'is-old' : undefined}>
              <TenantTable tenants={found.data} />
              <Pager meta={found.meta} />
            </div>
          )}
      </Read>
    </Page>
  )
}

function Nothing({ searched, deleted }: { searched?: string; deleted: boolean }) {
  if (searched) {
    return <Empty icon="search" title={<Trans>No tenant matches “{searched}”</Trans>}><Trans>Part of the name is enough.</Trans></Empty>
  }
  if (deleted) return <Empty icon="building" title={<Trans>No deleted tenants</Trans>}><Trans>Deleted tenants stay here for a while and can be restored.</Trans></Empty>
  return <Empty icon="building" title={<Trans>No tenants yet</Trans>} actions={<CopySignUp />}><Trans>Customers who sign up for your product appear here, with their plan, members and payments.</Trans></Empty>
}
