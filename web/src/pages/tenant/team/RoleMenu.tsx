import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Schema } from '../../../api/client'
import { useMay } from '../../../app/session'
import { Confirm } from '../../../ui/Confirm'
import { MenuEntry, More } from '../../../ui/Menu'
import { toast } from '../../../ui/Toast'
import { RoleDialog } from './RoleDialog'
import { useRoleWrites } from './useRoleWrites'

/** The actions for a custom role of the organization. */
export function RoleMenu({ role }: { role: Schema<'TenantRole'> }) {
  const { t } = useLingui()
  const may = useMay()
  const writes = useRoleWrites()
  const [asking, setAsking] = useState<'rename' | 'delete' | null>(null)
  const { name } = role

  async function remove() {
    await writes.remove(role)
    toast(t`The role ${name} was deleted`)
  }
  if (!may('roles.manage')) return null
  return (
    <>
      <More small label={t`More actions for ${name}`}>
        <MenuEntry icon="pencil" onClick={() => setAsking('rename')}><Trans>Rename</Trans></MenuEntry>
        <MenuEntry icon="x" danger onClick={() => setAsking('delete')}><Trans>Delete</Trans></MenuEntry>
      </More>
      <RoleDialog role={role} open={asking === 'rename'} onClose={() => setAsking(null)} />
      <Confirm
        open={asking === 'delete'} onClose={() => setAsking(null)} onConfirm={remove}
        title={<Trans>Delete the role {name}?</Trans>} action={<Trans>Delete {name}</Trans>}
      >
        <p><Trans>Members and invitations with this role change to Member.</Trans></p>
      </Confirm>
    </>
  )
}
