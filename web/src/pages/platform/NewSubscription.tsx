import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { Trans } from '@lingui/react/macro'
import { Empty, Skeleton } from '../../ui/Messages'
import { ButtonLink } from '../../ui/Button'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { SubscribeForm } from './subscribe/SubscribeForm'
import { usePlans, useRunning } from './tenant/plans'
import { oneQuery } from './tenant/reads'

/** Makes a subscription for a tenant, with a preview of what it costs and when. */
export default function NewSubscription() {
  const { t } = useLingui()
  const { tenantId } = useParams({ strict: false }) as { tenantId: string }
  const may = usePlatformMay()
  const allowed = may('subscriptions.manage') && may('tenants.view')
  const tenant = useQuery({ ...oneQuery(tenantId), enabled: allowed })
  const { plans, isLoading } = usePlans()
  const running = useRunning(tenantId)
  const name = tenant.data?.name ?? ''
  if (!allowed) return <NotAllowed needs={['subscriptions.manage', 'tenants.view']} title={t`New subscription`} />
  return (
    <Page title={t`New subscription`} lead={name && <Trans>For {name}</Trans>}>
      <Read query={tenant} lines={9}>
        {(of) => isLoading || running === undefined
          ? <Skeleton lines={9} />
          : running
            ? <Empty icon="plan" title={<Trans>{of.name} already has a subscription</Trans>} actions={<ButtonLink to="/platform/tenants/$tenantId" params={{ tenantId }}><Trans>Open tenant</Trans></ButtonLink>} />
            : plans.some((one) => one.is_active)
              ? <SubscribeForm tenant={of} plans={plans.filter((one) => one.is_active)} />
              : <Empty icon="plan" title={<Trans>No plans yet</Trans>} actions={<ButtonLink to="/platform/catalog"><Trans>Open catalog</Trans></ButtonLink>}><Trans>Add a plan to the catalog first.</Trans></Empty>}
      </Read>
    </Page>
  )
}
