import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { $api, api, ApiError } from '../../../api/client'
import { useMay } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { AreaField, SelectField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { useHere, useRefresh, useRoles, useSubscription, useTeamStats } from '../shared/reads'
import { useWords } from '../shared/words'
import { useRoleWords } from './permissions'

/** Error codes that belong to the email field. */
const aboutEmail = new Set(['ALREADY_MEMBER', 'ALREADY_INVITED', 'USER_BELONGS_TO_ANOTHER_TENANT'])

/** The number of invitations that can be sent at a time. */
const most = 20

/** The outcome of an invitation; problem is the reason why it was not sent. */
interface Result { email: string; problem?: string }

/** Returns the addresses in a text, each once: one a line, or separated by commas, semicolons or spaces. Names before an address in angle brackets are dropped. */
function emailsIn(text: string): string[] {
  const plain = text.replace(/[^,;\n]*<([^>\n]*)>/g, ' $1 ')
  return [...new Map(plain.split(/[\s,;]+/).filter(Boolean).map((one) => [one.toLowerCase(), one])).values()]
}

const fieldError = (message: string) => new ApiError(422, message, undefined, { email: [message] })

function InviteForm({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const words = useWords()
  const inWords = useRoleWords()
  const here = useHere()
  const refresh = useRefresh()
  const [role, setRole] = useState('member')
  const roles = $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/roles', here).data?.data ?? []
  const all = useRoles().data?.data
  const chosen = all?.find((one) => one.name === role)
  const days = [1, 3, 7, 14, 30]
  const subscription = useSubscription().data?.data
  const members = useTeamStats().data?.data.members ?? 0
  const free = (subscription?.quantity ?? 0) - members
  const cost = subscription?.plan.pricing_type !== 'seat' ? null
    : free > 0 ? <Plural value={free} one="# paid seat is available." other="# paid seats are available." /> : <Trans>You will be charged for the seat when they join.</Trans>

  const [text, setText] = useState('')
  const [results, setResults] = useState<Result[]>([])
  const emails = emailsIn(text)

  async function send(email: string, values: Values) {
    await api.POST('/api/v1/tenant/{tenantId}/team/invitations', {
      ...here, body: { email, role: String(values.role), expires_in_days: values.expires_in_days ? Number(values.expires_in_days) : undefined },
    })
  }

  async function invite(values: Values) {
    if (emails.length > most) throw fieldError(t`At most ${most} addresses at a time.`)
    const [first = '', ...others] = emails
    if (others.length === 0) {
      try {
        await send(first, values)
      } catch (error) {
        if (error instanceof ApiError && aboutEmail.has(error.code ?? '')) throw fieldError(error.message)
        throw error
      }
      await refresh('/team', '/audit-logs')
      toast(t`Invitation sent to ${first}`)
      return onClose()
    }
    // One after the other, so that each takes a seat or reports that none is left.
    const all: Result[] = []
    for (const email of emails) {
      try {
        await send(email, values)
        all.push({ email })
      } catch (error) {
        if (!(error instanceof ApiError) || error.status === 401) throw error
        all.push({ email, problem: Object.values(error.fields)[0]?.[0] ?? error.message })
      }
      setResults([...all])
    }
    await refresh('/team', '/audit-logs')
    const failed = all.filter((one) => one.problem)
    setText(failed.map((one) => one.email).join('\n'))
    if (failed.length > 0) return
    const count = all.length
    toast(plural(count, { one: '# invitation sent', other: '# invitations sent' }))
    onClose()
  }
  return (
    <Form onSubmit={invite} className="stack">
      {({ busy }) => (
        <>
          <AreaField
            name="email" label={t`Email addresses`} rows={emails.length > 1 ? Math.min(8, emails.length + 1) : 2} autoComplete="off" autoCapitalize="none" spellCheck={false} inputMode="email" data-autofocus
            value={text} onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || emails.length > 1) return
              event.preventDefault()
              event.currentTarget.form?.requestSubmit()
            }}
            help={<><Trans>Paste up to {most} addresses. Each person receives an invitation by email.</Trans> {cost}</>}
          />
          {results.length > 0 && (
            <div role="status">
              <ul className="list">
                {results.map((one) => (
                  <li key={one.email}><span className="break">{one.email}</span><span className="end">{one.problem ? <Status tone="bad">{one.problem}</Status> : <Status tone="good"><Trans>Sent</Trans></Status>}</span></li>
                ))}
              </ul>
            </div>
          )}
          <SelectField name="role" label={t`Role`} value={role} onChange={(event) => setRole(event.target.value)} help={inWords(role, chosen?.permissions)}>
            {roles.map((one) => <option key={one.id} value={one.name}>{words.role(one.name)}</option>)}
          </SelectField>
          <SelectField name="expires_in_days" label={t`Invitation expires after`} defaultValue="">
            <option value="">{t`Default`}</option>
            {days.map((day) => <option key={day} value={day}>{plural(day, { one: '# day', other: '# days' })}</option>)}
          </SelectField>
          <div className="acts">
            <Button onClick={onClose}>{results.length > 0 ? <Trans>Close</Trans> : <Trans>Cancel</Trans>}</Button>
            <Button type="submit" look="primary" busy={busy}>{emails.length > 1 ? <Plural value={emails.length} one="Send # invitation" other="Send # invitations" /> : <Trans>Send invitation</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Invites people by email, or reports that no seat is left. */
export function InviteDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const stats = useTeamStats().data?.data
  const may = useMay()
  const full = stats?.available !== null && stats !== undefined && stats.available <= 0
  const limit = stats?.limit
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Invite members</Trans>}>
      {full
        ? (
            <div className="stack">
              <Note tone="warn" title={<Trans>All {limit} seats are taken</Trans>}>
                <Trans>Remove a member, revoke an invitation, or change to a plan with more seats.</Trans>
              </Note>
              <div className="acts">
                <Button onClick={onClose}><Trans>Close</Trans></Button>
                {may('billing.manage') && <Link className="btn primary" to="/plan"><Trans>View plans</Trans></Link>}
              </div>
            </div>
          )
        : <InviteForm onClose={onClose} />}
    </Dialog>
  )
}
