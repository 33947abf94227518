import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Schema } from '../../api/client'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { Deleted } from './tenant/Deleted'
import { BillingDetailsList } from './tenant/Details'
import { Header } from './tenant/Header'
import { History } from './tenant/History'
import { MoneyFacts } from './tenant/MoneyFacts'
import { PaymentFacts } from './tenant/PaymentFacts'
import { People } from './tenant/People'
import { oneQuery } from './tenant/reads'

/** Everything about a customer: billing, members and activity. */
export default function Tenant() {
  const { t } = useLingui()
  const { tenantId } = useParams({ from: '/signed-in/platform/tenants/$tenantId' })
  const may = usePlatformMay()
  const tenant = useQuery({ ...oneQuery(tenantId), enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed title={t`Tenant`} />
  return (
    <Page title={tenant.data?.name ?? t`Tenant`} heading={null}>
      <Read query={tenant} lines={9}>{(of) => <Body of={of} />}</Read>
    </Page>
  )
}

function Body({ of }: { of: Schema<'AdminTenant'> }) {
  const may = usePlatformMay()
  return (
    <>
      <Header of={of} />
      {of.deleted_at && <Deleted of={of} />}
      <div className="facts-left">
        <div className="facts">
          {!of.deleted_at && (
            <>
              <h2><Trans>Billing</Trans></h2>
              <MoneyFacts id={of.id} />
              <PaymentFacts id={of.id} />
              <People tenant={of} />
            </>
          )}
          <h2><Trans>Billing details</Trans></h2>
          <BillingDetailsList of={of} />
        </div>
        {may('logs.view') && <History tenant={of} />}
      </div>
    </>
  )
}
