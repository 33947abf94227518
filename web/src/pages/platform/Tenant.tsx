import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useFilters } from '../../app/filters'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { AskContext, type Asked } from './tenant/asked'
import { Deleted } from './tenant/Deleted'
import { Dialogs } from './tenant/Dialogs'
import { Header } from './tenant/Header'
import { oneQuery } from './tenant/reads'
import { Tabs } from './tenant/Tabs'

/** Everything about a customer, in tabs below its name and the actions. */
export default function Tenant() {
  const { t } = useLingui()
  const { tenantId } = useParams({ from: '/signed-in/platform/tenants/$tenantId' })
  const may = usePlatformMay()
  const [asked, ask] = useState<Asked>()
  const [{ do: wanted }, change] = useFilters()
  // A link opens a dialog of the page, for example from the search.
  useEffect(() => {
    if (wanted !== 'act' && wanted !== 'credit' && wanted !== 'edit' && wanted !== 'change') return
    ask({ dialog: wanted })
    change({ do: undefined }, { replace: true })
  }, [wanted]) // eslint-disable-line react-hooks/exhaustive-deps
  const tenant = useQuery({ ...oneQuery(tenantId), enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed needs={['tenants.view']} title={t`Tenant`} />
  return (
    <Page title={tenant.data?.name ?? t`Tenant`} heading={tenant.isError && !tenant.data ? undefined : null}>
      <Read query={tenant} lines={9}>
        {(of) => (
          <AskContext value={ask}>
            <Header of={of} />
            {of.deleted_at ? <Deleted of={of} /> : <Tabs of={of} />}
            <Outlet />
            {!of.deleted_at && <Dialogs of={of} asked={asked} onClose={() => ask(undefined)} />}
          </AskContext>
        )}
      </Read>
    </Page>
  )
}
