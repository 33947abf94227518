import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { roleWord } from '../../../app/roles'
import { Icon } from '../../../ui/Icon'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'
import { tenantKey } from './reads'

/** A pending or expired invitation, with the admin's actions. */
export function InvitationRow({ of, tenant }: { of: Schema<'TeamInvitation'>; tenant: string }) {
  const { t } = useLingui()
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
    <tr>
      <td className="k1"><span className="person"><span className="av open" aria-hidden="true"><Icon name="mail" /></span><span><b className="break">{of.email}</b></span></span></td>
      <td className="k2">{roleWord(of.role)}</td>
      <td className="k5" />
      <td className="k3">
        {of.is_expired
          ? <><Status tone="off"><Trans>Invitation expired</Trans></Status><small><Trans>on {day}</Trans></small></>
          : <><Status tone="wait"><Trans>Invited</Trans></Status><small><Trans>expires on {day}</Trans></small></>}
      </td>
      <td className="acts-cell k4">
        {may('tenants.manage') && (
          <More small label={t`More actions for ${of.email}`}>
            <MenuEntry icon="mail" onClick={() => again.mutate()}><Trans>Resend</Trans></MenuEntry>
            <MenuLine />
            <MenuEntry icon="x" danger onClick={() => revoke.mutate()}><Trans>Revoke invitation</Trans></MenuEntry>
          </More>
        )}
      </td>
    </tr>
  )
}
