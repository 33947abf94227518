import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useHolds, useMay } from '../../app/session'
import { Button } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { useRoles } from './shared/reads'
import { RoleDialog } from './team/RoleDialog'
import { RoleMatrix } from './team/RoleMatrix'
import { RolesInWords } from './team/RolesInWords'

/** The permissions of each role as a matrix, in which custom roles can be changed. */
export default function Roles() {
  const { t } = useLingui()
  const holds = useHolds()
  const may = useMay()
  const roles = useRoles()
  const [making, setMaking] = useState(false)
  if (!holds('roles.manage')) {
    return (
      <Page title={t`Roles`}>
        <Empty icon="lock" title={<Trans>You do not have permission to change roles</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  return (
    <Page
      title={t`Roles`} lead={may('roles.manage') && <Trans>The permissions of each role. Owner, Admin and Member are built in. You can create as many custom roles as you need.</Trans>}
      actions={may('roles.manage') && <Button look="primary" icon="plus" onClick={() => setMaking(true)}><Trans>New role</Trans></Button>}
    >
      <Read query={roles} lines={8}>{({ data }) => <RoleMatrix roles={data} />}</Read>
      <RolesInWords />
      <RoleDialog open={making} onClose={() => setMaking(false)} />
    </Page>
  )
}
