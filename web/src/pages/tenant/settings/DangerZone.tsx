import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMe, useTenant } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { LeaveDialog } from '../shared/LeaveDialog'
import { useSubscription } from '../shared/reads'
import { DeleteDialog } from './DeleteDialog'
import { TransferDialog } from './TransferDialog'

/** Irreversible actions: transfer and deletion for the owner, leaving for other members. */
export function DangerZone() {
  const tenant = useTenant()
  const me = useMe()
  const subscription = useSubscription().data?.data
  const [asking, setAsking] = useState<'transfer' | 'delete' | 'leave' | null>(null)
  const close = () => setAsking(null)
  // The service rejects all of them during an impersonation.
  if (me.impersonation?.is_impersonating) return null
  if (tenant.user_role !== 'owner') {
    return (
      <Section title={<Trans>Leave the organization</Trans>}>
        <div className="danger-zone">
          <div>
            <p><Trans>You lose access to {tenant.name} immediately. Your account is kept.</Trans></p>
            <Button look="danger" onClick={() => setAsking('leave')}><Trans>Leave {tenant.name}</Trans></Button>
          </div>
        </div>
        <LeaveDialog open={asking === 'leave'} onClose={close} />
      </Section>
    )
  }
  const alone = tenant.users.length < 2
  return (
    <Section title={<Trans>Danger zone</Trans>}>
      <div className="danger-zone">
        <div>
          <p>{alone ? <Trans>To transfer {tenant.name}, the team needs another member.</Trans> : <Trans>Make another member the owner. You become an admin, and only the new owner can transfer ownership back to you.</Trans>}</p>
          <Button look="danger" disabled={alone} onClick={() => setAsking('transfer')}><Trans>Transfer ownership</Trans></Button>
        </div>
        <div>
          <p>
            {subscription
              ? <Trans>Before you can delete {tenant.name}, cancel its subscription: <Link to="/plan">cancel immediately</Link>.</Trans>
              : <Trans>Delete {tenant.name}: all members lose access immediately, API keys stop working, and the data is permanently deleted after a while.</Trans>}
          </p>
          <Button look="danger" disabled={!!subscription} onClick={() => setAsking('delete')}><Trans>Delete {tenant.name}</Trans></Button>
        </div>
      </div>
      <TransferDialog open={asking === 'transfer'} onClose={close} />
      <DeleteDialog open={asking === 'delete'} onClose={close} />
    </Section>
  )
}
