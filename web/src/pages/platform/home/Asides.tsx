import { Trans, useLingui } from '@lingui/react/macro'
import { useFormat } from '../../../app/format'
import { Status, type Tone } from '../../../ui/Status'
import { checks } from './checks'
import type { Stats } from './stats'

/** How many tenants have a subscription in which state. */
export function BySubscription({ stats }: { stats: Stats }) {
  const { t } = useLingui()
  const format = useFormat()
  const { active, trialing, past_due, unpaid, paused, incomplete, none } = stats.subscriptions
  const rows: { key: string; tone: Tone; label: string; count: number; fill?: string; always?: boolean }[] = [
    { key: 'active', tone: 'good', label: t`Active`, count: active, always: true },
    { key: 'trialing', tone: 'wait', label: t`In trial`, count: trialing, fill: 'var(--fill-2)', always: true },
    { key: 'past_due', tone: 'bad', label: t`Past due`, count: past_due, fill: 'var(--bad)', always: true },
    { key: 'unpaid', tone: 'bad', label: t`Unpaid`, count: unpaid, fill: 'var(--bad)' },
    { key: 'incomplete', tone: 'warn', label: t`Payment to be finished`, count: incomplete, fill: 'var(--warn-fill)' },
    { key: 'paused', tone: 'off', label: t`Paused`, count: paused, fill: 'var(--line-2)' },
    { key: 'none', tone: 'plain', label: t`None`, count: none, fill: 'var(--track)', always: true },
  ]
  return (
    <div id="subscriptions">
      <div className="sec-head"><h2><Trans>Tenants by subscription</Trans></h2></div>
      <div className="stackbar" aria-hidden="true">
        {rows.filter((one) => one.count > 0).map((one) => <i key={one.key} style={{ flex: one.count, background: one.fill }} />)}
      </div>
      <ul className="legend">
        {rows.filter((one) => one.always || one.count > 0).map((one) => (
          <li key={one.key}><Status tone={one.tone === 'bad' && one.count === 0 ? 'plain' : one.tone}>{one.label}</Status><b>{format.number(one.count)}</b></li>
        ))}
      </ul>
    </div>
  )
}

/** The parts of the service and how each is doing. */
export function HealthList({ stats }: { stats: Stats }) {
  const format = useFormat()
  const tones = { ok: 'good', warning: 'warn', error: 'bad' } as const
  return (
    <div id="health">
      <div className="sec-head"><h2><Trans>Health</Trans></h2></div>
      <ul className="legend">
        {checks(stats, format).map((one) => <li key={one.key}><Status tone={tones[one.status]}>{one.label}</Status><b className="w4">{one.value}</b></li>)}
      </ul>
    </div>
  )
}
