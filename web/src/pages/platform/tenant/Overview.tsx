import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { Events } from '../../../parts/timeline/Events'
import { timelineQuery } from '../../../parts/timeline/reads'
import { Copy } from '../../../ui/Copy'
import { Empty } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { Avatar } from '../../../ui/People'
import { Read } from '../../../ui/Read'
import { useNameOf } from '../activity/entries'
import { usePlatformMay } from '../may'
import { useAsk } from './asked'
import { BillingDetailsList } from './Details'
import { MoneyFacts } from './MoneyFacts'
import { PaymentFacts } from './PaymentFacts'
import { Strip } from './Strip'
import { Urgent } from './Urgent'
import { UsageBars } from './UsageBars'
import { useCustomer } from './useCustomer'

/** The number of entries of the activity to show. */
const shown = 8

/** The most urgent fact, four figures, facts on the left, usage and activity on the right. */
export default function Overview() {
  const of = useCustomer()
  const { t } = useLingui()
  const may = usePlatformMay()
  const ask = useAsk()
  const live = !of.deleted_at
  return (
    <>
      {live && <Urgent of={of} />}
      {live && <Strip of={of} />}
      <div className="facts-left">
        <div className="facts">
          {live && (
            <>
              <div className="head"><h2><Trans>Subscription</Trans></h2><Link to="/platform/tenants/$tenantId/subscription" params={{ tenantId: of.id }}><Trans context="a page">Open</Trans></Link></div>
              <MoneyFacts of={of} />
              <PaymentFacts id={of.id} />
            </>
          )}
          {of.owner && (
            <>
              <div className="head"><h2><Trans>Owner</Trans></h2>{live && may('impersonation.start') && <button type="button" className="as-link" onClick={() => ask({ dialog: 'act', member: of.owner!.id })}><Trans>Act as</Trans></button>}</div>
              <p className="person t13 owner"><Avatar name={of.owner.name} /><span><b>{of.owner.name}</b><small className="break">{of.owner.email}</small></span></p>
            </>
          )}
          <div className="head"><h2><Trans>Billing details</Trans></h2>{live && may('tenants.manage') && <button type="button" className="as-link" aria-label={t`Edit billing details`} onClick={() => ask({ dialog: 'edit' })}><Trans>Edit</Trans></button>}</div>
          <BillingDetailsList of={of} />
          <Identifiers of={of} />
        </div>
        <div>
          {live && (
            <Section className="" title={<Trans>Usage</Trans>} end={<Link to="/platform/tenants/$tenantId/usage" params={{ tenantId: of.id }}><Trans>Limits and grants</Trans></Link>}>
              <UsageBars id={of.id} />
            </Section>
          )}
          {may('logs.view') && <RecentActivity of={of} />}
        </div>
      </div>
    </>
  )
}

function Identifiers({ of }: { of: Schema<'AdminTenant'> }) {
  const metadata = Object.entries(of.metadata)
  return (
    <>
      <h2><Trans>Identifiers</Trans></h2>
      <dl className="dl">
        <div><dt><Trans>Short name</Trans></dt><dd><Copy text={of.slug} whole /></dd></div>
        {of.external_id && <div><dt><Trans>External ID</Trans></dt><dd><Copy text={of.external_id} whole /></dd></div>}
        {metadata.length > 0 && (
          <div>
            <dt><Trans>Metadata</Trans></dt>
            <dd className="kv">{metadata.map(([key, value]) => <span key={key}><code>{key}</code> {typeof value === 'string' ? value : JSON.stringify(value)}</span>)}</dd>
          </div>
        )}
      </dl>
    </>
  )
}

function RecentActivity({ of }: { of: Schema<'AdminTenant'> }) {
  const name = useNameOf(of.deleted_at ? undefined : of.id)
  const entries = useInfiniteQuery(timelineQuery({ tenant: of.id }, undefined, shown))
  return (
    <Section className={of.deleted_at ? '' : 'sec'} title={<Trans>Recent activity</Trans>} end={<Link to="/platform/tenants/$tenantId/activity" params={{ tenantId: of.id }}><Trans>All activity</Trans></Link>}>
      <Read query={entries} lines={5}>
        {(found) => (found.length === 0 ? <Empty slim level="h3" icon="activity" title={<Trans>No activity yet</Trans>} /> : <Events entries={found.slice(0, shown)} name={name} />)}
      </Read>
    </Section>
  )
}
