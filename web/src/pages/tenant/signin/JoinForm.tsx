import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useRoleName } from '../../../app/roles'
import { Button } from '../../../ui/Button'
import { FieldError, Switch } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { useHere, useRefresh } from '../shared/reads'
import { useAssignable } from './reads'
import { useRoleErrors } from './roleErrors'

/** Whether people with addresses in a domain join on their own, and with which role. */
export function JoinForm({ of }: { of: Schema<'TenantDomain'> }) {
  const { t } = useLingui()
  const { params: { path: { tenantId } } } = useHere()
  const refresh = useRefresh()
  const atRole = useRoleErrors()
  const [on, setOn] = useState(of.auto_join === 'on')
  const [role, setRole] = useState(of.role)

  async function save() {
    const body = { auto_join: on ? 'on' : 'off', role } as const
    await atRole(() => api.PATCH('/api/v1/tenant/{tenantId}/domains/{domain}', { params: { path: { tenantId, domain: of.id } }, body }))
    await refresh('/domains', '/audit-logs')
    toast(t`Saved`)
  }
  const changed = on !== (of.auto_join === 'on') || role !== of.role
  return (
    <Form className="more join" guard onSubmit={save}>
      {({ busy }) => (
        <>
          <Switch name="auto_join" checked={on} onChange={(event) => setOn(event.target.checked)}><Trans>People with this domain join as</Trans></Switch>
          <RoleSelect label={t`Role for new members of ${of.domain}`} value={role} onChange={setRole} />
          {changed && <Button type="submit" size="s" busy={busy}><Trans>Save</Trans></Button>}
        </>
      )}
    </Form>
  )
}

function RoleSelect({ label, value, onChange }: { label: string; value: string; onChange: (to: string) => void }) {
  const roleName = useRoleName()
  const roles = useAssignable(value)
  return (
    <>
      <select className="select dense" name="role" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        {roles.map((one) => <option key={one} value={one}>{roleName(one)}</option>)}
      </select>
      <FieldError name="role" />
    </>
  )
}
