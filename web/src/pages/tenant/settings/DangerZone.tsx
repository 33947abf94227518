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

/** What cannot be taken back: handing over and deleting for the owner, leaving for everybody else. */
export function DangerZone() {
  const tenant = useTenant()
  const me = useMe()
  const subscription = useSubscription().data?.data
  const [asking, setAsking] = useState<'transfer' | 'delete' | 'leave' | null>(null)
  const close = () => setAsking(null)
  // Whoever acts as somebody else is refused all of this.
  if (me.impersonation?.is_impersonating) return null
  if (tenant.user_role !== 'owner') {
    return (
      <Section title={<Trans>Leave</Trans>}>
        <div className="danger-zone">
          <div>
            <p><Trans>You lose your access to {tenant.name} at once. Your account stays.</Trans></p>
            <Button look="danger" onClick={() => setAsking('leave')}><Trans>Leave {tenant.name}</Trans></Button>
          </div>
        </div>
        <LeaveDialog open={asking === 'leave'} onClose={close} />
      </Section>
    )
  }
  const alone = tenant.users.length < 2
  return (
    <Section title={<Trans>What cannot be taken back</Trans>}>
      <div className="danger-zone">
        <div>
          <p>{alone ? <Trans>To hand {tenant.name} over, somebody else has to be in the team.</Trans> : <Trans>Make somebody else the owner. You become an admin, and only they can give it back.</Trans>}</p>
          <Button look="danger" disabled={alone} onClick={() => setAsking('transfer')}><Trans>Hand over</Trans></Button>
        </div>
        <div>
          <p>
            {subscription
              ? <Trans>Before you can delete {tenant.name}, its subscription has to end: <Link to="/plan">end it at once</Link>.</Trans>
              : <Trans>Delete {tenant.name}: everybody loses their access at once, API keys stop working, and the data is deleted for good after a while.</Trans>}
          </p>
          <Button look="danger" disabled={!!subscription} onClick={() => setAsking('delete')}><Trans>Delete {tenant.name}</Trans></Button>
        </div>
      </div>
      <TransferDialog open={asking === 'transfer'} onClose={close} />
      <DeleteDialog open={asking === 'delete'} onClose={close} />
    </Section>
  )
}
