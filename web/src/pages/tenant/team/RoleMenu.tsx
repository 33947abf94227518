import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Schema } from '../../../api/client'
import { Confirm } from '../../../ui/Confirm'
import { MenuEntry, More } from '../../../ui/Menu'
import { toast } from '../../../ui/Toast'
import { RoleDialog } from './RoleDialog'
import { useRoleWrites } from './useRoleWrites'

/** What can be done with a role of the organization's own. */
export function RoleMenu({ role }: { role: Schema<'TenantRole'> }) {
  const { t } = useLingui()
  const writes = useRoleWrites()
  const [asking, setAsking] = useState<'rename' | 'delete' | null>(null)
  const { name } = role

  async function remove() {
    await writes.remove(role)
    toast(t`The role ${name} is deleted`)
  }
  return (
    <>
      <More small label={t`More for ${name}`}>
        <MenuEntry icon="pencil" onClick={() => setAsking('rename')}><Trans>Rename</Trans></MenuEntry>
        <MenuEntry icon="x" danger onClick={() => setAsking('delete')}><Trans>Delete</Trans></MenuEntry>
      </More>
      <RoleDialog role={role} open={asking === 'rename'} onClose={() => setAsking(null)} />
      <Confirm
        open={asking === 'delete'} onClose={() => setAsking(null)} onConfirm={remove}
        title={<Trans>Delete the role {name}?</Trans>} action={<Trans>Delete {name}</Trans>}
      >
        <p><Trans>Who has it, and who is invited with it, becomes a member.</Trans></p>
      </Confirm>
    </>
  )
}
