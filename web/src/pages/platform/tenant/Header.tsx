import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button, ButtonLink } from '../../../ui/Button'
import { Copy } from '../../../ui/Copy'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Avatar } from '../../../ui/People'
import { Status, SubscriptionState } from '../../../ui/Status'
import { usePlatformMay } from '../may'
import { useAsk } from './asked'
import { currentOf } from './MoneyFacts'
import { isPriceable } from './ChangePrice'
import { isEnding } from './ResumeSubscription'
import { billingQuery, subscriptionsQuery } from './reads'

/** The name and state of a tenant, with two main actions and a menu of the others. */
export function Header({ of }: { of: Schema<'AdminTenant'> }) {
  const format = useFormat()
  const may = usePlatformMay()
  const manage = may('tenants.manage')
  const since = format.dayWithYear(of.created_at)
  return (
    <div className="ent">
      <Avatar square large name={of.name} />
      <div className="grow0">
        <h1>{of.name} {of.deleted_at ? <Status tone="off"><Trans context="tenant">Deleted</Trans></Status> : of.subscription_status ? <SubscriptionState status={of.subscription_status} /> : <Status tone="plain"><Trans>No subscription</Trans></Status>}</h1>
        <p>{of.plan_name && `${of.plan_name}. `}<Trans>Customer since {since}.</Trans> <Copy text={of.id} /></p>
      </div>
      {!of.deleted_at && (
        <div className="acts">
          {may('subscriptions.manage') && <PlanButton of={of} />}
          {may('impersonation.start') && of.member_count > 0 && <ActButton />}
          {(manage || may('billing.credit') || may('limits.manage') || may('subscriptions.manage')) && <Actions of={of} />}
        </div>
      )}
    </div>
  )
}

function ActButton() {
  const ask = useAsk()
  return <Button icon="eye" onClick={() => ask({ dialog: 'act' })}><Trans>Act as…</Trans></Button>
}

/** Changes the plan, or makes the first subscription. */
function PlanButton({ of }: { of: Schema<'AdminTenant'> }) {
  const ask = useAsk()
  const subscriptions = useQuery(subscriptionsQuery(of.id)).data
  if (!subscriptions) return null
  const current = currentOf(subscriptions)
  if (current && ['active', 'trialing', 'past_due'].includes(current.status)) return <Button onClick={() => ask({ dialog: 'change' })}><Trans>Change plan</Trans></Button>
  if (current && (current.status === 'incomplete' || current.status === 'unpaid' || current.status === 'paused')) return null
  return <ButtonLink to="/platform/tenants/$tenantId/new-subscription" params={{ tenantId: of.id }}><Trans>New subscription</Trans></ButtonLink>
}

function Actions({ of }: { of: Schema<'AdminTenant'> }) {
  const may = usePlatformMay()
  const ask = useAsk()
  const subscriptions = useQuery(subscriptionsQuery(of.id)).data
  const current = currentOf(subscriptions ?? [])
  const owes = (useQuery(billingQuery(of.id)).data?.open.length ?? 0) > 0
  const runs = current && current.status !== 'canceled' && current.status !== 'incomplete_expired'
  const manage = may('tenants.manage')
  return (
    <More>
      {manage && <MenuEntry icon="pencil" onClick={() => ask({ dialog: 'edit' })}><Trans>Edit details</Trans></MenuEntry>}
      {manage && current?.status === 'trialing' && <MenuEntry icon="calendar" onClick={() => ask({ dialog: 'trial' })}><Trans>Extend trial</Trans></MenuEntry>}
      {may('subscriptions.manage') && runs && !current.discount && <MenuEntry icon="plus" onClick={() => ask({ dialog: 'code' })}><Trans>Add promotion code</Trans></MenuEntry>}
      {may('subscriptions.manage') && isPriceable(current) && <MenuEntry icon="coin" onClick={() => ask({ dialog: 'price' })}><Trans>Change price</Trans></MenuEntry>}
      {may('subscriptions.manage') && isEnding(current) && <MenuEntry icon="undo" onClick={() => ask({ dialog: 'resume' })}><Trans>Resume subscription</Trans></MenuEntry>}
      {may('subscriptions.manage') && owes && <MenuEntry icon="card" onClick={() => ask({ dialog: 'charge' })}><Trans>Charge invoice</Trans></MenuEntry>}
      {may('subscriptions.manage') && owes && <MenuEntry icon="check" onClick={() => ask({ dialog: 'paid' })}><Trans>Record payment</Trans></MenuEntry>}
      {may('billing.credit') && <MenuEntry icon="coin" onClick={() => ask({ dialog: 'credit' })}><Trans>Give credit</Trans></MenuEntry>}
      {may('limits.manage') && <MenuEntry icon="gauge" onClick={() => ask({ dialog: 'limit' })}><Trans>Change limit</Trans></MenuEntry>}
      {may('limits.manage') && <MenuEntry icon="plus" onClick={() => ask({ dialog: 'grant' })}><Trans>Grant units</Trans></MenuEntry>}
      {manage && (
        <>
          {(runs || owes) && <MenuLine />}
          {runs && <MenuEntry icon="x" onClick={() => ask({ dialog: 'cancel' })}><Trans>Cancel subscription</Trans></MenuEntry>}
          {owes && <MenuEntry icon="receipt" onClick={() => ask({ dialog: 'void' })}><Trans>Void invoice</Trans></MenuEntry>}
          <MenuLine />
          <MenuEntry icon="x" danger disabled={of.member_count > 0 || (subscriptions ?? []).length > 0} onClick={() => ask({ dialog: 'dissolve' })}><Trans>Delete empty tenant</Trans></MenuEntry>
        </>
      )}
    </More>
  )
}
