import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { useRoleName } from '../../app/roles'
import { meQuery } from '../../app/session'
import { Out } from '../../shell/Out'
import { Button, ButtonLink } from '../../ui/Button'
import { Form, type Values } from '../../ui/Form'
import { Empty, Problem } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { AccountFields, Agreement } from './AccountFields'

/** Shows an invitation and accepts it with the current account or a new one. */
export default function Invitation() {
  const { t } = useLingui()
  const { token = '' } = useParams({ strict: false }) as { token?: string }
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: async () => (await api.GET('/api/v1/invitations/{token}', { params: { path: { token } } })).data!.data,
    retry: false,
  })
  const unknown = invitation.error instanceof ApiError && [404, 410, 422].includes(invitation.error.status)
  if (unknown || invitation.data?.is_valid === false) {
    return (
      <Out title={t`Invitation`}>
        <Empty level="h1" icon="mail" title={<Trans>This invitation is no longer valid</Trans>} actions={<ButtonLink to="/sign-in"><Trans>Sign in</Trans></ButtonLink>}>
          <Trans>It was already used or revoked, or it has expired. Ask the person who invited you for a new one.</Trans>
        </Empty>
      </Out>
    )
  }
  return (
    <Out title={t`Invitation`}>
      <Read query={invitation}>{(data) => <Answer token={token} invitation={data} />}</Read>
    </Out>
  )
}

function Answer({ token, invitation }: { token: string; invitation: Schema<'TeamInvitation'> }) {
  const format = useFormat()
  const roleName = useRoleName()
  const me = useQuery(meQuery)
  const [registers, setRegisters] = useState(true)
  const tenant = invitation.tenant.name
  const inviter = invitation.inviter?.name
  const until = format.day(invitation.expires_at)
  const role = roleName(invitation.role)
  const user = me.data?.user
  return (
    <div className="stack">
      <div>
        <h1 className="tight"><Trans>Join {tenant}</Trans></h1>
        <p className="muted">
          {inviter
            ? <Trans>{inviter} invited {invitation.email} to join as {role}. The invitation expires on {format.day(invitation.expires_at)}.</Trans>
            : <Trans>{invitation.email} is invited to join as {role}. The invitation expires on {until}.</Trans>}
        </p>
      </div>
      {user
        ? <AcceptAs token={token} invitation={invitation} user={user} />
        : registers
          ? (
            <>
              <JoinAsNew token={token} email={invitation.email} />
              <p className="help center">
                <button type="button" className="as-link" onClick={() => setRegisters(false)}><Trans>I already have an account</Trans></button>
              </p>
            </>
          )
          : (
            <>
              <Link to="/sign-in" search={{ next: `/invitations/${token}` }} className="btn primary big block"><Trans>Sign in as {invitation.email}</Trans></Link>
              <p className="help center">
                <button type="button" className="as-link" onClick={() => setRegisters(true)}><Trans>I do not have an account yet</Trans></button>
              </p>
            </>
          )}
    </div>
  )
}

/** Accepts with the signed-in account, if it is the invited one. */
function AcceptAs({ token, invitation, user }: { token: string; invitation: Schema<'TeamInvitation'>; user: Schema<'ProfileUser'> }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const accept = useMutation({
    mutationFn: () => api.POST('/api/v1/invitations/{token}/accept', { params: { path: { token } } }),
    onSuccess: async () => {
      queries.clear()
      await navigate({ to: '/', replace: true })
    },
  })
  const leave = useMutation({ mutationFn: () => api.POST('/api/v1/auth/logout'), onSuccess: () => queries.setQueryData(meQuery.queryKey, null) })
  if (user.email.toLowerCase() !== invitation.email.toLowerCase()) {
    return (
      <div className="stack">
        <p><Trans>You are signed in as {user.email}. The invitation is for {invitation.email}.</Trans></p>
        <Button block size="big" busy={leave.isPending} onClick={() => leave.mutate()}><Trans>Sign out and continue as {invitation.email}</Trans></Button>
      </div>
    )
  }
  const tenant = invitation.tenant.name
  return (
    <div className="stack">
      {accept.error && <Problem error={accept.error} />}
      <Button look="primary" block size="big" busy={accept.isPending} onClick={() => accept.mutate()}><Trans>Join {tenant} as {user.name}</Trans></Button>
    </div>
  )
}

function JoinAsNew({ token, email }: { token: string; email: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  async function join(values: Values) {
    const password = String(values.password)
    await api.POST('/api/v1/invitations/{token}/accept-with-registration', {
      params: { path: { token } },
      body: { email, name: String(values.name), password, password_confirmation: password },
    })
    queries.clear()
    await navigate({ to: '/', replace: true })
  }
  return (
    <Form onSubmit={join}>
      {({ busy }) => (
        <>
          <AccountFields email={email} />
          <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Create account and join</Trans></Button>
          <Agreement />
        </>
      )}
    </Form>
  )
}
