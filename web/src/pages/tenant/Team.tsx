import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { pageOf, useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { useMay } from '../../app/session'
import { Button } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { useInvitations, useMemberPage, useSubscription, useTeamStats } from './shared/reads'
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
  const sought = (search.search?.trim().length ?? 0) > 1 ? search.search?.trim() : undefined
  const members = useMemberPage(pageOf(search), sought)
  const stats = useTeamStats().data?.data
  const invitations = useInvitations()
  const subscription = useSubscription().data?.data
  const waiting = (invitations.data?.data ?? []).filter((one) => one.status === 'pending' || one.status === 'expired')
  const people = stats?.members ?? 0
  const matching = waiting.filter((one) => !sought || one.email.toLowerCase().includes(sought.toLowerCase()))
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
        subscription?.plan.pricing_type !== 'seat' || !stats ? <Trans>The members of your team and their permissions.</Trans>
          : (
              <>
                {free > 0
                  ? <Trans>Paid seats: {paid}, used: {people}, free: {free}. New members take the free seats first.</Trans>
                  : <Trans>Paid seats: {paid}, all used. The next member costs {price} {each} from the day they join.</Trans>}
                {may('billing.manage') && <> <Link to="/plan" hash="seats"><Trans>Change seats</Trans></Link></>}
              </>
            )
      }
      actions={may('team.invite') && <Button look="primary" icon="plus" onClick={() => setInviting(true)}><Trans>Invite members</Trans></Button>}
    >
      <SeatLine />
      <div className="toolbar gap-top">
        {(sought || people + waiting.length > 10) && <SearchField label={t`Search by name or email`} />}
        <Chips name="show" label={t`Show`} value={show} options={choices} />
      </div>
      <Read query={members} lines={6}>
        {({ data, meta }) => (
          <div className={members.isPlaceholderData ? 'is-old' : undefined}>
            <PeopleTable
              members={show === 'invitations' ? [] : data}
              // Invitations follow the last member.
              invitations={show === 'people' || (show === 'everyone' && meta && meta.current_page < meta.last_page) ? [] : matching}
              sought={sought}
              onInvite={may('team.invite') ? () => setInviting(true) : undefined}
            />
            {show !== 'invitations' && meta && <Pager meta={meta} />}
          </div>
        )}
      </Read>
      <RolesInWords withLink />
      <InviteDialog open={inviting} onClose={() => setInviting(false)} />
    </Page>
  )
}
