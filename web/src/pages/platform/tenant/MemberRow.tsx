import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { roleWord } from '../../../app/roles'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Avatar, MfaCell } from '../../../ui/People'
import { usePlatformMay } from '../may'
import { useAsk } from './asked'
import { ChangeMember, ChangeRole, MakeOwner, RemoveMember, ResetFactors } from './MemberDialogs'

/** A member, with the admin's actions. */
export function MemberRow({ of, tenant }: { of: Schema<'TeamMember'>; tenant: Schema<'AdminTenant'> }) {
  const { t } = useLingui()
  const may = usePlatformMay()
  const format = useFormat()
  const ask = useAsk()
  const [asked, setAsked] = useState<'role' | 'owner' | 'person' | 'factors' | 'remove'>()
  const close = () => setAsked(undefined)
  const owner = of.role.name === 'owner'
  const manage = may('tenants.manage')
  const resets = may('users.password') && of.mfa_enabled === true
  return (
    <tr>
      <td className="k1"><span className="person"><Avatar name={of.name} src={of.avatar} /><span><b>{of.name}</b><small>{of.email}</small></span></span></td>
      <td className="k2">{roleWord(of.role.name)}</td>
      <MfaCell on={of.mfa_enabled} />
      <td className="k3">{of.joined_at && format.dayWithYear(of.joined_at)}</td>
      <td className="acts-cell k4">
        <More small label={t`More actions for ${of.name}`}>
          {may('impersonation.start') && <MenuEntry icon="eye" onClick={() => ask({ dialog: 'act', member: of.id })}><Trans>Act as {of.name}</Trans></MenuEntry>}
          {manage && !owner && <MenuEntry icon="swap" onClick={() => setAsked('role')}><Trans>Change role</Trans></MenuEntry>}
          {manage && !owner && <MenuEntry icon="key" onClick={() => setAsked('owner')}><Trans>Make owner</Trans></MenuEntry>}
          {(manage || may('users.password')) && <MenuEntry icon="pencil" onClick={() => setAsked('person')}><Trans>Name and password</Trans></MenuEntry>}
          <MenuEntry icon="mail" href={`mailto:${of.email}`}><Trans>Send email</Trans></MenuEntry>
          {resets && <MenuEntry icon="lock" onClick={() => setAsked('factors')}><Trans>Reset factors</Trans></MenuEntry>}
          {manage && !owner && <MenuLine />}
          {manage && !owner && <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans context="a member">Remove</Trans></MenuEntry>}
        </More>
        <ChangeRole of={of} tenant={tenant} open={asked === 'role'} onClose={close} />
        <MakeOwner of={of} tenant={tenant} open={asked === 'owner'} onClose={close} />
        <ChangeMember of={of} tenant={tenant} open={asked === 'person'} onClose={close} />
        <ResetFactors of={of} tenant={tenant} open={asked === 'factors'} onClose={close} />
        <RemoveMember of={of} tenant={tenant} open={asked === 'remove'} onClose={close} />
      </td>
    </tr>
  )
}
