import { Trans, useLingui } from '@lingui/react/macro'
import { address, api, type Schema } from '../../../api/client'
import { useRoleName } from '../../../app/roles'
import { Button } from '../../../ui/Button'
import { CopyIcon } from '../../../ui/Copy'
import { Field, SelectField, Switch, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { useHere, useRefresh } from '../shared/reads'
import { useAssignable } from './reads'
import { useRoleErrors } from './roleErrors'

/** Connects an identity provider, or changes the connection. Saving reads its discovery document. */
export function ConnectionForm({ sso, onClose }: { sso: Schema<'SSOConnection'> | null; onClose?: () => void }) {
  const { t } = useLingui()
  const here = useHere()
  const refresh = useRefresh()
  const atRole = useRoleErrors()
  const roleName = useRoleName()
  const roles = useAssignable(sso?.role ?? 'member')
  const redirect = sso?.redirect_uri ?? address('/api/v1/auth/sso/callback')

  async function save(values: Values) {
    const text = (name: string) => String(values[name]).trim()
    await atRole(() => api.PUT('/api/v1/tenant/{tenantId}/sso', {
      ...here,
      body: {
        issuer: text('issuer'), client_id: text('client_id'), client_secret: text('client_secret') || undefined, role: text('role'),
        provision_members: values.provision_members === true, counts_as_mfa: values.counts_as_mfa === true,
        session_hours: Number(text('session_hours')), required: sso?.required ?? false,
      },
    }))
    await refresh('/sso', '/audit-logs')
    toast(t`The connection was saved`)
    onClose?.()
  }
  return (
    <Form className="stack" guard onSubmit={save}>
      {({ busy }) => (
        <>
          <div className="field">
            <span className="label"><Trans>Redirect URI</Trans> <span><Trans>add this to your provider first</Trans></span></span>
            <div className="well"><code>{redirect}</code><CopyIcon text={redirect} label={t`Copy the redirect URI`} /></div>
          </div>
          <TextField name="issuer" type="url" label={t`Issuer URL`} defaultValue={sso?.issuer} autoComplete="off" spellCheck={false} help={<Trans>Exactly as in your provider’s discovery document.</Trans>} />
          <div className="two">
            <TextField name="client_id" label={t`Client ID`} defaultValue={sso?.client_id} autoComplete="off" spellCheck={false} />
            <TextField name="client_secret" type="password" label={t`Client secret`} autoComplete="new-password" placeholder={sso ? '•••••••••••••••••' : undefined} help={sso && <Trans>Leave empty to keep it.</Trans>} />
          </div>
          <Switch name="provision_members" defaultChecked={sso?.provision_members ?? true} small={<Trans>As long as a seat is free.</Trans>}><Trans>Create members at their first sign-in</Trans></Switch>
          <Switch name="counts_as_mfa" defaultChecked={sso?.counts_as_mfa ?? false} small={<Trans>Turn this on only if your identity provider asks for one.</Trans>}><Trans>SSO counts as a second factor</Trans></Switch>
          <div className="two">
            <SelectField name="role" label={t`Role for new members`} defaultValue={sso?.role ?? 'member'}>
              {roles.map((one) => <option key={one} value={one}>{roleName(one)}</option>)}
            </SelectField>
            <Field name="session_hours" label={t`Session length`}>
              {({ bad, ...field }) => (
                <div className="unit"><input {...field} className={`input ${bad}`} type="number" min={1} max={720} inputMode="numeric" defaultValue={sso?.session_hours ?? 24} /><span><Trans>hours</Trans></span></div>
              )}
            </Field>
          </div>
          <div className="acts">
            <Button type="submit" look="primary" busy={busy}><Trans>Save connection</Trans></Button>
            {onClose ? <Button onClick={onClose}><Trans>Cancel</Trans></Button> : <Button disabled><Trans>Test sign-in</Trans></Button>}
          </div>
        </>
      )}
    </Form>
  )
}
