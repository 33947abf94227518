import { Trans } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Copy } from '../../../ui/Copy'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Avatar } from '../../../ui/People'
import { Status, SubscriptionState } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'
import { useActAs } from './actAs'
import { CancelSubscription } from './CancelSubscription'
import { EditTenant } from './Details'
import { currentOf } from './MoneyFacts'
import { subscriptionsQuery } from './reads'
import { VoidInvoice } from './VoidInvoice'

type Asked = 'edit' | 'cancel' | 'void' | 'dissolve' | undefined

/** The name and state of a tenant, with its two main actions. */
export function Header({ of }: { of: Schema<'AdminTenant'> }) {
  const format = useFormat()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const may = usePlatformMay()
  const actAs = useActAs(of.id)
  const subscriptions = useQuery({ ...subscriptionsQuery(of.id), enabled: !of.deleted_at }).data
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  const current = currentOf(subscriptions ?? [])
  const runs = current && current.status !== 'canceled' && current.status !== 'incomplete_expired'
  const manage = may('tenants.manage')
  const since = format.dayWithYear(of.created_at)
  return (
    <div className="ent">
      <Avatar square large name={of.name} />
      <div className="grow0">
        <h1>{of.name} {of.deleted_at ? <Status tone="off"><Trans context="tenant">Deleted</Trans></Status> : <SubscriptionState status={of.subscription_status} />}</h1>
        <p>{of.plan_name && `${of.plan_name}. `}<Trans>Customer since {since}.</Trans> <Copy text={of.id} /></p>
      </div>
      {!of.deleted_at && (
        <div className="acts">
          {manage && <Button onClick={() => setAsked('edit')}><Trans>Edit</Trans></Button>}
          {may('impersonation.start') && of.owner && (
            <Button look="primary" icon="eye" busy={actAs.isPending} onClick={() => actAs.mutate(of.owner!.id)}><Trans>Act as {of.owner.name}</Trans></Button>
          )}
          {manage && (
            <More>
              {runs && <MenuEntry icon="x" onClick={() => setAsked('cancel')}><Trans>Cancel subscription</Trans></MenuEntry>}
              <MenuEntry icon="receipt" onClick={() => setAsked('void')}><Trans>Void invoice</Trans></MenuEntry>
              <MenuLine />
              <MenuEntry icon="x" danger disabled={of.member_count > 0 || (subscriptions ?? []).length > 0} onClick={() => setAsked('dissolve')}><Trans>Delete empty tenant</Trans></MenuEntry>
            </More>
          )}
        </div>
      )}
      <EditTenant of={of} open={asked === 'edit'} onClose={close} />
      <VoidInvoice tenant={of} open={asked === 'void'} onClose={close} />
      {current && <CancelSubscription of={current} tenant={of} open={asked === 'cancel'} onClose={close} />}
      <Confirm
        open={asked === 'dissolve'} onClose={close} name={of.name} title={<Trans>Delete {of.name}?</Trans>} action={<Trans>Delete tenant</Trans>}
        onConfirm={async () => {
          await api.DELETE('/api/v1/admin/tenants/{tenant}', { params: { path: { tenant: of.id } } })
          await navigate({ to: '/platform/tenants' })
          await queries.invalidateQueries({ queryKey: ['tenants'] })
          toast(<Trans>{of.name} was deleted.</Trans>)
        }}
      >
        <p><Trans>Its roles and invitations are deleted too. It cannot be restored.</Trans></p>
      </Confirm>
    </div>
  )
}
