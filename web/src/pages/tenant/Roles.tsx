import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useMay } from '../../app/session'
import { Button } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { useRoles } from './shared/reads'
import { RoleDialog } from './team/RoleDialog'
import { RoleMatrix } from './team/RoleMatrix'
import { RolesInWords } from './team/RolesInWords'

/** What each role may do, as a matrix in which one's own roles are changed. */
export default function Roles() {
  const { t } = useLingui()
  const may = useMay()
  const roles = useRoles()
  const [making, setMaking] = useState(false)
  if (!may('roles.manage')) {
    return (
      <Page title={t`Roles`}>
        <Empty icon="lock" title={<Trans>You may not change roles</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  return (
    <Page
      title={t`Roles`} lead={<Trans>What a role may do. Owner, Admin and Member are fixed; you can make as many others as you need.</Trans>}
      actions={<Button look="primary" icon="plus" onClick={() => setMaking(true)}><Trans>New role</Trans></Button>}
    >
      <Read query={roles} lines={8}>{({ data }) => <RoleMatrix roles={data} />}</Read>
      <RolesInWords />
      <RoleDialog open={making} onClose={() => setMaking(false)} />
    </Page>
  )
}
