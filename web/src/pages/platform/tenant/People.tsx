import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../../api/client'
import { pageOf, useFilters } from '../../../app/filters'
import { Button } from '../../../ui/Button'
import { ClearFilters } from '../../../ui/ClearFilters'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { SearchField } from '../../../ui/SearchField'
import { usePlatformMay } from '../may'
import { InvitationRow } from './InvitationRow'
import { InviteDialog } from './InviteDialog'
import { MemberRow } from './MemberRow'
import { invitationsQuery, membersQuery } from './reads'
import { useCustomer } from './useCustomer'

type Person = { member: Schema<'TeamMember'> } | { invitation: Schema<'TeamInvitation'> }

const perPage = 25

/** Removes accents and case, to compare names. */
const plain = (text: string) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase()

const textOf = (of: Person) => plain('member' in of ? `${of.member.name} ${of.member.email}` : of.invitation.email)

/** The members and invitations of a tenant in one list, with the admin's actions. */
export default function People() {
  const { t } = useLingui()
  const of = useCustomer()
  const may = usePlatformMay()
  const members = useQuery(membersQuery(of.id))
  const invitations = useQuery(invitationsQuery(of.id)).data ?? []
  const [search] = useFilters()
  const [inviting, setInviting] = useState(false)
  const sought = plain(search.search ?? '').trim()
  const invite = may('tenants.manage') && <Button icon="plus" onClick={() => setInviting(true)}><Trans>Invite member</Trans></Button>
  return (
    <section>
      <h2 className="sr"><Trans>People</Trans></h2>
      <div className="toolbar">
        <SearchField label={t`Search by name or email`} />
        <span className="end">{invite}</span>
      </div>
      <Read query={members} lines={6}>
        {(found) => {
          const all: Person[] = [...found.map((member) => ({ member })), ...invitations.map((invitation) => ({ invitation }))]
          const matching = all.filter((one) => textOf(one).includes(sought))
          const last = Math.max(1, Math.ceil(matching.length / perPage))
          const page = Math.min(last, pageOf(search))
          if (matching.length === 0) return <Empty slim icon="team" title={sought ? <Trans>No one matches “{search.search}”</Trans> : <Trans>No members left.</Trans>} actions={sought ? <ClearFilters /> : invite} />
          return (
            <>
              <table className="table mid cards people last">
                <thead>
                  <tr>
                    <th scope="col"><Trans>Member</Trans></th><th scope="col"><Trans>Role</Trans></th><th scope="col"><Trans>MFA</Trans></th><th scope="col"><Trans>Since</Trans></th>
                    <th scope="col" className="fit"><span className="sr"><Trans>Actions</Trans></span></th>
                  </tr>
                </thead>
                <tbody>
                  {matching.slice((page - 1) * perPage, page * perPage).map((one) => ('member' in one
                    ? <MemberRow key={one.member.id} of={one.member} tenant={of} />
                    : <InvitationRow key={one.invitation.id} of={one.invitation} tenant={of.id} />))}
                </tbody>
              </table>
              <Pager meta={{ current_page: page, last_page: last, per_page: perPage, total: matching.length }} />
            </>
          )
        }}
      </Read>
      <InviteDialog tenant={of} open={inviting} onClose={() => setInviting(false)} />
    </section>
  )
}
