import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { roleWord } from '../../../app/roles'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Icon } from '../../../ui/Icon'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Read } from '../../../ui/Read'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'
import { InviteDialog } from './InviteDialog'
import { MemberItem } from './MemberItem'
import { invitationsQuery, membersQuery, tenantKey } from './reads'

function InvitationItem({ of, tenant }: { of: Schema<'TeamInvitation'>; tenant: string }) {
  const format = useFormat()
  const queries = useQueryClient()
  const may = usePlatformMay()
  const params = { path: { tenant, invitation: of.id } }
  const reload = () => queries.invalidateQueries({ queryKey: [...tenantKey(tenant), 'invitations'] })
  const again = useMutation({
    mutationFn: () => api.POST('/api/v1/admin/tenants/{tenant}/invitations/{invitation}/resend', { params }),
    onSuccess: async () => { toast(<Trans>Invitation resent to {of.email}.</Trans>); await reload() },
    onError: (error) => toast(error.message),
  })
  const revoke = useMutation({
    mutationFn: () => api.DELETE('/api/v1/admin/tenants/{tenant}/invitations/{invitation}', { params }),
    onSuccess: async () => { toast(<Trans>The invitation for {of.email} was revoked.</Trans>); await reload() },
    onError: (error) => toast(error.message),
  })
  const day = format.day(of.expires_at)
  return (
    <li>
      <span className="person">
        <span className="av open" aria-hidden="true"><Icon name="mail" /></span>
        <span><b className="break">{of.email}</b><small>{of.is_expired ? <Trans>Invitation expired on {day}</Trans> : <Trans>Invited as {roleWord(of.role)}, expires on {day}</Trans>}</small></span>
      </span>
      {may('tenants.manage') && (
        <span className="end">
          <More small>
            <MenuEntry icon="mail" onClick={() => again.mutate()}><Trans>Resend</Trans></MenuEntry>
            <MenuLine />
            <MenuEntry icon="x" danger onClick={() => revoke.mutate()}><Trans>Revoke invitation</Trans></MenuEntry>
          </More>
        </span>
      )}
    </li>
  )
}

/** The members and invitations of a tenant, with the admin's actions. */
export function People({ tenant }: { tenant: Schema<'AdminTenant'> }) {
  const { t } = useLingui()
  const may = usePlatformMay()
  const members = useQuery(membersQuery(tenant.id))
  const invitations = useQuery(invitationsQuery(tenant.id))
  const [inviting, setInviting] = useState(false)
  return (
    <>
      <div className="h2-row">
        <h2><Trans>Members</Trans></h2>
        {may('tenants.manage') && <Button size="s" look="quiet" icon="plus" aria-label={t`Invite member`} onClick={() => setInviting(true)} />}
      </div>
      <Read query={members}>
        {(found) => (
          <ul className="list keep people-list">
            {found.length === 0 && <li className="faint"><Trans>No members left.</Trans></li>}
            {found.map((one) => <MemberItem key={one.id} of={one} tenant={tenant} />)}
            {invitations.data?.map((one) => <InvitationItem key={one.id} of={one} tenant={tenant.id} />)}
          </ul>
        )}
      </Read>
      <InviteDialog tenant={tenant} open={inviting} onClose={() => setInviting(false)} />
    </>
  )
}
