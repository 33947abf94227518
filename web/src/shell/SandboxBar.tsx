import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type CSSProperties } from 'react'
import { address, api, ApiError, hasSession } from '../api/client'
import { setNow } from '../app/clock'
import { useFormat } from '../app/format'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { Form } from '../ui/Form'
import { TextField } from '../ui/Field'
import { Icon } from '../ui/Icon'
import { wasOpen } from './Sandbox'

/** The response of GET /sandbox/bar, which is not in the API description. */
interface BarState {
  now: string
  coming: { at: string; kind: string; what: string; about: string; href: string }[]
  mails: { count: number; last: { id: string; to: string; subject: string; sent_at: string }[] }
  events: { id: string; type: string; at: string; waiting: number }[]
  accounts: { role: string; email: string; password: string }[]
}

/** The response of GET /sandbox/stripe/chaos. */
interface ChaosState { webhooks: Record<string, number>; api: Record<string, number> }

/** Translates scheduled events of the provider. Unknown ones keep the sandbox's words. */
function useEventWords(): (kind: string, otherwise: string) => string {
  const { t } = useLingui()
  const words: Record<string, string> = {
    'subscription.period_ends': t`Renewal`, 'subscription.upcoming': t`Renewal reminder`, 'subscription.trial_will_end': t`Trial ending reminder`,
    'subscription.incomplete_expires': t`First payment expires`, 'subscription.pending_items': t`Pending items are invoiced`,
    'subscription.pending_update_expires': t`Pending change expires`, 'checkout.expires': t`Checkout expires`,
    'invoice.finalizes': t`Invoice is finalized and paid`, 'invoice.retries': t`Payment is retried`, 'payment_intent.settles': t`Direct debit settles`,
  }
  return (kind, otherwise) => words[kind] ?? otherwise
}

async function sandbox<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(address(`/sandbox${path}`), {
    method, headers: body ? { 'Content-Type': 'application/json' } : {}, body: body ? JSON.stringify(body) : undefined,
  })
  const answer = (await response.json().catch(() => ({}))) as { data?: T; message?: string; errors?: Record<string, string[]> }
  if (!response.ok) throw new ApiError(response.status, answer.message ?? response.statusText, undefined, answer.errors)
  return answer.data as T
}

/**
 * The controls of the sandbox: clock with upcoming events, mailbox, events, chaos, and demo
 * accounts.
 */
export default function SandboxBar() {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const words = useEventWords()
  const [open, setOpen] = useState(wasOpen)
  const [sets, setSets] = useState(false)
  const bar = useQuery({
    queryKey: ['sandbox'], refetchInterval: open ? 5000 : 60_000, retry: false,
    queryFn: async () => {
      const state = await sandbox<BarState>('GET', '/bar')
      setNow(state.now)
      return state
    },
  })
  const move = useMutation({
    mutationFn: async (by: { advance?: string; to?: string }) => {
      const { now } = await sandbox<{ now: string }>('POST', '/clock', by)
      setNow(now)
    },
    onSuccess: async () => {
      // The effects of the move arrive within moments.
      await queries.invalidateQueries()
      setTimeout(() => void queries.invalidateQueries(), 1500)
    },
  })
  useEffect(() => {
    document.documentElement.classList.toggle('has-sandbox', open)
    try {
      localStorage.setItem('sandbox', open ? 'open' : 'folded')
    } catch {
      // Without storage the bar is collapsed on the next visit.
    }
  }, [open])

  const state = bar.data
  if (!state) return null
  const next = state.coming[0]
  return (
    <aside className={`sandbox ${open ? '' : 'folded'}`} aria-label={t`Sandbox`}>
      <div className="sb-top">
        <a className="word" href={address('/sandbox')}><Icon name="flag" /><Trans>Sandbox</Trans></a>
        <span className="now"><b>{format.exact(state.now)}</b></span>
        <div className="acts">
          {next && (
            <Button size="s" className="go" icon="next" busy={move.isPending} title={`${words(next.kind, next.what)}: ${next.about}`} onClick={() => move.mutate({ to: next.at })}>
              <Trans>Go to next event, {format.shortDay(next.at)}</Trans>
            </Button>
          )}
          <Button size="s" onClick={() => move.mutate({ advance: '24h' })}><Trans>+ 1 day</Trans></Button>
          <Button size="s" className="wide-only" onClick={() => move.mutate({ advance: '744h' })}><Trans>+ 31 days</Trans></Button>
          <Button size="s" className="wide-only" onClick={() => setSets(true)}><Trans>Set time…</Trans></Button>
          <Button size="s" icon={open ? 'down' : 'up'} aria-label={open ? t`Collapse` : t`Expand`} aria-expanded={open} onClick={() => setOpen(!open)} />
        </div>
      </div>
      {open && <Line now={state.now} coming={state.coming} />}
      {open && <Columns state={state} />}
      <Dialog open={sets} onClose={() => setSets(false)} title={<Trans>Move the sandbox clock</Trans>}>
        <Form
          className="stack"
          onSubmit={async ({ to }) => {
            await move.mutateAsync({ to: new Date(String(to)).toISOString() })
            setSets(false)
          }}
        >
          {({ busy }) => (
            <>
              <TextField name="to" type="datetime-local" label={t({ message: 'To', context: 'a time' })} help={t`You can only move forward in time.`} required autoFocus />
              <div className="acts">
                <Button onClick={() => setSets(false)}><Trans>Cancel</Trans></Button>
                <Button type="submit" look="primary" busy={busy}><Trans>Move clock</Trans></Button>
              </div>
            </>
          )}
        </Form>
      </Dialog>
    </aside>
  )
}

/**
 * The next days as a line with their events. An event too close to the previous one moves below the
 * line.
 */
function Line({ now, coming }: { now: string; coming: BarState['coming'] }) {
  const format = useFormat()
  const words = useEventWords()
  const start = new Date(now).getTime()
  const shown = coming.slice(0, 5)
  const last = shown.length > 0 ? new Date(shown.at(-1)!.at).getTime() : start
  const span = Math.max(7 * 86_400_000, (last - start) * 1.2)
  const at = (time: number) => (100 * (time - start)) / span
  const step = Math.max(1, Math.round(span / 86_400_000 / 7))
  const days: number[] = []
  const first = new Date(now)
  first.setHours(24, 0, 0, 0)
  for (let day = first.getTime(); day < start + span; day += step * 86_400_000) days.push(day)
  let free = -100
  return (
    <div className="sb-line">
      {days.map((day) => <i key={day} className="day" style={{ '--x': `${at(day)}%` } as CSSProperties}><span>{format.shortDay(new Date(day))}</span></i>)}
      {shown.map((one, i) => {
        const x = Math.min(88, Math.max(0.6, at(new Date(one.at).getTime()), free + 12))
        free = x
        return (
          <a key={`${one.at}${one.about}${i}`} className={i === 0 ? 'next' : undefined} href={address(one.href || '/sandbox/clock')} style={{ '--x': `${x}%`, '--w': '150px' } as CSSProperties}>
            <b>{words(one.kind, one.what)}</b><span>{one.about}</span>
          </a>
        )
      })}
    </div>
  )
}

function Columns({ state }: { state: BarState }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const chaos = useQuery({ queryKey: ['sandbox', 'chaos'], queryFn: () => sandbox<ChaosState>('GET', '/stripe/chaos') })
  const calm = useMutation({ mutationFn: () => sandbox('PUT', '/stripe/chaos', {}), onSuccess: () => queries.invalidateQueries({ queryKey: ['sandbox'] }) })
  const as = useMutation({
    mutationFn: async ({ email, password }: { email: string; password: string }) => {
      if (hasSession()) await api.POST('/api/v1/auth/logout').catch(() => {})
      await api.POST('/api/v1/auth/login', { body: { email, password, remember: true } })
      location.assign(document.baseURI)
    },
  })
  const roles: Record<string, string> = { platform_admin: t`Platform admin`, owner: t`Owner`, admin: t`Admin`, member: t`Member` }
  return (
    <div className="sb-cols">
      <section>
        <h2><Trans>Mailbox</Trans> <a href={address('/sandbox/mail')}><Trans>All {state.mails.count}</Trans></a></h2>
        <ul>
          {state.mails.last.slice(0, 3).map((mail) => (
            <li key={mail.id}>
              <a className="plain" href={address(`/sandbox/mail/${mail.id}`)}><b>{mail.subject}</b><span>{mail.to}</span></a>
              <time dateTime={mail.sent_at}>{format.shortDay(mail.sent_at)}</time>
            </li>
          ))}
          {state.mails.count === 0 && <li className="muted"><Trans>No emails yet</Trans></li>}
        </ul>
      </section>
      <section>
        <h2><Trans>Recent events</Trans> <a href={address('/sandbox/dashboard')}><Trans context="events">All</Trans></a></h2>
        <ul>
          {state.events.slice(0, 3).map((event) => (
            <li key={event.id}>
              <span><b>{event.type}</b><span>{event.waiting > 0 ? <Trans>Pending</Trans> : <Trans>Received</Trans>}</span></span>
              <time dateTime={event.at}>{format.shortDay(event.at)}</time>
            </li>
          ))}
          {state.events.length === 0 && <li className="muted"><Trans>No events yet</Trans></li>}
        </ul>
      </section>
      <section>
        <h2><Trans>Chaos</Trans> <button type="button" className="as-link" onClick={() => calm.mutate()}><Trans>Reset all</Trans></button></h2>
        {chaos.data && <Chaos chaos={chaos.data} />}
      </section>
      <section>
        <h2><Trans>Sign in as</Trans></h2>
        <ul className="as">
          {state.accounts.map((one) => (
            <li key={one.email}><button type="button" className="as-link" title={one.email} onClick={() => as.mutate(one)}>{roles[one.role] ?? one.role}</button></li>
          ))}
        </ul>
      </section>
    </div>
  )
}

/** The failure rates, from never to always. */
function Chaos({ chaos }: { chaos: ChaosState }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const set = useMutation({
    mutationFn: (to: ChaosState) => sandbox('PUT', '/stripe/chaos', to),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sandbox'] }),
  })
  const dials: { label: string; of: keyof ChaosState; key: string }[] = [
    { label: t`Lost webhooks`, of: 'webhooks', key: 'drop' },
    { label: t`Duplicate webhooks`, of: 'webhooks', key: 'duplicate' },
    { label: t`Stripe errors`, of: 'api', key: 'fail_before' },
  ]
  return (
    <>
      {dials.map((dial) => {
        const value = Number(chaos[dial.of][dial.key] ?? 0)
        return (
          <label key={dial.label} className="sl">
            <span>{dial.label}</span>
            <input
              type="range" min={0} max={1} step={0.05} defaultValue={value} key={value}
              onChange={(event) => set.mutate({ ...chaos, [dial.of]: { ...chaos[dial.of], [dial.key]: Number(event.target.value) } })}
            />
            <b>{format.percent(value)}</b>
          </label>
        )
      })}
    </>
  )
}
