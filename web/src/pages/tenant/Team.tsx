import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { useMay } from '../../app/session'
import { Button } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { useInvitations, useMembers, useSubscription } from './shared/reads'
import { useWords } from './shared/words'
import { InviteDialog } from './team/InviteDialog'
import { PeopleTable } from './team/PeopleTable'
import { RolesInWords } from './team/RolesInWords'
import { SeatLine } from './team/SeatLine'

/**
 * The members and invitations in one list, the available seats, and the permissions of each role.
 */
export default function Team() {
  const { t } = useLingui()
  const may = useMay()
  const format = useFormat()
  const words = useWords()
  const [search] = useFilters()
  const [inviting, setInviting] = useState(false)
  const members = useMembers()
  const invitations = useInvitations()
  const subscription = useSubscription().data?.data
  const waiting = (invitations.data?.data ?? []).filter((one) => one.status === 'pending' || one.status === 'expired')
  const people = members.data?.data.length ?? 0
  const price = subscription && format.money(subscription.price_cents, subscription.currency)
  const paid = subscription?.quantity ?? 0
  const free = Math.max(0, paid - people)
  const each = subscription && words.each({ ...subscription, pricing_type: subscription.plan.pricing_type })
  const show = search.show === 'people' || search.show === 'invitations' ? search.show : 'everyone'
  const choices = [
    { value: 'everyone', label: t`Everyone`, count: people + waiting.length || undefined },
    { value: 'people', label: t`Members`, count: people || undefined },
    { value: 'invitations', label: t`Invitations`, count: invitations.data ? waiting.length : undefined },
  ]
  return (
    <Page
      title={t`Team`}
      lead={
        subscription?.plan.pricing_type !== 'seat' || members.isPending ? <Trans>The members of your team and their permissions.</Trans>
          : (
              <>
                {free > 0
                  ? <Trans>Paid seats: {paid}, used: {people}, free: {free}. New members take the free seats first.</Trans>
                  : <Trans>Paid seats: {paid}, all used. The next member costs {price} {each} from the day they join.</Trans>}
                {may('billing.manage') && <> <Link to="/plan" hash="seats"><Trans>Change seats</Trans></Link></>}
              </>
            )
      }
      actions={may('team.invite') && <Button look="primary" icon="plus" onClick={() => setInviting(true)}><Trans>Invite member</Trans></Button>}
    >
      <SeatLine />
      <div className="toolbar gap-top"><Chips name="show" label={t`Show`} value={show} options={choices} /></div>
      <Read query={members} lines={6}>
        {({ data }) => (
          <PeopleTable
            members={show === 'invitations' ? [] : data}
            invitations={show === 'people' ? [] : waiting}
            onInvite={may('team.invite') ? () => setInviting(true) : undefined}
          />
        )}
      </Read>
      <RolesInWords withLink />
      <InviteDialog open={inviting} onClose={() => setInviting(false)} />
    </Page>
  )
}
