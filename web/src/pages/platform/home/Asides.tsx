import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFormat } from '../../../app/format'
import { Status, type Tone } from '../../../ui/Status'
import { usePlatformMay } from '../may'
import { checksOf } from './health'
import type { Stats } from './stats'

/** The number of tenants by status of their subscription. */
export function BySubscription({ of: { tenants } }: { of: Stats }) {
  const { t } = useLingui()
  const format = useFormat()
  const by = tenants.by_subscription
  const rows: { key: keyof typeof by; tone: Tone; label: string; fill?: string }[] = [
    { key: 'active', tone: 'good', label: t`Active` },
    { key: 'trialing', tone: 'wait', label: t`In trial`, fill: 'var(--fill-2)' },
    { key: 'past_due', tone: by.past_due > 0 ? 'bad' : 'plain', label: t`Past due`, fill: 'var(--bad)' },
    { key: 'other', tone: 'off', label: t`Paused or incomplete`, fill: 'var(--line-2)' },
    { key: 'none', tone: 'plain', label: t({ message: 'None', context: 'subscription' }), fill: 'var(--track)' },
  ]
  return (
    <div>
      <div className="sec-head"><h2><Trans>Tenants by subscription</Trans></h2></div>
      <div className="stackbar" aria-hidden="true">
        {rows.filter((one) => by[one.key] > 0).map((one) => <i key={one.key} style={{ flex: by[one.key], background: one.fill }} />)}
      </div>
      <ul className="legend">
        {rows.filter((one) => one.key !== 'other' || by.other > 0).map((one) => <li key={one.key}><Status tone={one.tone}>{one.label}</Status><b>{format.number(by[one.key])}</b></li>)}
      </ul>
    </div>
  )
}

/** The health checks and their results. */
export function HealthList({ of }: { of: Stats }) {
  const format = useFormat()
  const may = usePlatformMay()
  const failed = may('webhooks.manage') && may('tenants.view')
  return (
    <div id="health">
      <div className="sec-head"><h2><Trans>Health</Trans></h2></div>
      <ul className="legend checks">
        {checksOf(of.health, format).map((one) => <li key={one.key}><Status tone={one.tone}>{one.key === 'webhooks' && failed ? <Link to="/platform/developers/deliveries" search={one.tone === 'warn' ? { status: 'failed' } : {}}>{one.name}</Link> : one.name}</Status><b className="w4">{one.text}</b></li>)}
      </ul>
    </div>
  )
}
