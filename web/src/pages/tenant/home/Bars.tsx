import { plural } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { CSSProperties, ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { Section } from '../../../ui/Page'
import { Status } from '../../../ui/Status'
import { useTeamStats } from '../shared/reads'
import { useWords } from '../shared/words'
import { share, type Gauge, type Period } from './meters'

/** The end of the track, a third above the limit. */
const most = 4 / 3

/** A line: a name, the bar with its forecast, and the figures. */
function Bar({ name, below, used, forecast, limit, figure, remark, calm, covered }: {
  name: ReactNode; below: ReactNode; used: number; forecast?: number; limit: number | null; figure: ReactNode; remark: ReactNode
  /** Reaching the limit is not a problem. */
  calm?: boolean
  /** Prepaid units cover usage over the limit. */
  covered?: boolean
}) {
  const v = limit ? Math.min(most, used / limit) : 0
  const f = limit ? Math.min(most, Math.max(used, forecast ?? 0) / limit) : 0
  const tone = limit === null ? 'none' : calm ? (v > 1 ? 'warn' : '') : v >= 1 && !covered ? 'bad' : f >= 1 || v >= 0.8 ? 'warn' : ''
  return (
    <div className="bar">
      <div className="name"><b>{name}</b><span>{below}</span></div>
      <div className={`track ${tone}`} style={{ '--v': v, '--f': f } as CSSProperties}><i />{f > v && <u />}</div>
      <div className="fig"><b>{figure}</b><span>{remark}</span></div>
    </div>
  )
}

/** A meter with its limit; below the name, the reset. With link, the name selects the chart. */
export function MeterBar({ gauge, period, paused, charted, link }: { gauge: Gauge; period: Period; paused: boolean; charted?: boolean; link?: boolean }) {
  const words = useWords()
  const format = useFormat()
  const end = format.day(gauge.quota?.resets_at ?? period.end)
  const granted = gauge.quota?.grants_remaining ?? 0
  const reserved = gauge.quota?.reserved ?? 0
  const rejected = gauge.quota?.rejected ?? 0
  const more = words.quantity(granted, gauge.unit)
  const held = words.quantity(reserved, gauge.unit)
  const used = format.number(gauge.used)
  const limit = gauge.limit === null ? '' : words.quantity(gauge.limit, gauge.unit)
  const forecast = gauge.forecast === undefined ? '' : words.quantity(gauge.forecast, gauge.unit)
  const below = gauge.resets === 'monthly' ? <Trans>Resets on {end}</Trans>
    : gauge.resets === 'weekly' ? <Trans>Resets every Monday</Trans>
      : gauge.resets === 'daily' ? <Trans>Resets every day</Trans>
        : <Trans>Does not reset</Trans>
  const remark = paused ? <Trans>Paused</Trans>
    : gauge.limit === null ? (gauge.inPlan ? <Trans>No limit</Trans> : <Trans>Not in your plan</Trans>)
      : gauge.forecast !== undefined && gauge.forecast > gauge.used ? <Trans>≈ {forecast} at today’s pace</Trans>
        : gauge.used >= gauge.limit && granted <= 0
          ? (rejected > 0 ? <Plural value={rejected} one="# rejected" other="# rejected" /> : gauge.capped ? <Trans>Your cap is reached</Trans> : gauge.hard ? <Trans>Limit reached</Trans> : <Trans>Over the limit</Trans>)
          : granted > 0 ? <Trans>{more} prepaid left</Trans>
            : gauge.capped ? <Trans>Your cap</Trans>
              : null
  return (
    <Bar
      name={link ? <Link to="." search={(search: Record<string, string | undefined>) => ({ ...search, meter: gauge.code })} hash="history" activeProps={{}} aria-current={charted ? 'true' : undefined}>{gauge.name}</Link> : gauge.name}
      below={reserved > 0 ? <>{below} · <Trans>{held} reserved</Trans></> : below} covered={granted > 0} used={gauge.used} forecast={paused ? undefined : gauge.forecast} limit={gauge.limit}
      figure={gauge.limit === null ? words.quantity(gauge.used, gauge.unit) : <Trans>{used} of {limit}</Trans>} remark={remark}
    />
  )
}

export function PlacesBar() {
  const stats = useTeamStats().data?.data
  const format = useFormat()
  if (!stats) return null
  const { total, members, pending_invitations: invited, limit } = stats
  const used = format.number(total)
  const most = limit === null ? '' : format.number(limit)
  const people = plural(members, { one: '# member', other: '# members' })
  const waiting = plural(invited, { one: '# invitation', other: '# invitations' })
  return (
    <Bar
      name={<Trans>Team seats</Trans>} below={invited > 0 ? <Trans>{people}, {waiting}</Trans> : people}
      used={total} limit={limit} calm
      figure={limit === null ? used : <Trans>{used} of {most}</Trans>}
      remark={limit === null ? <Trans>No limit</Trans> : <Plural value={Math.max(0, limit - total)} one="# free" other="# free" />}
    />
  )
}

/** The usage of the plan's limits, with a forecast. */
export function Bars({ gauges, period, paused }: { gauges: Gauge[]; period: Period; paused: boolean }) {
  const format = useFormat()
  const days = Math.max(0, Math.ceil((period.end.getTime() - period.now.getTime()) / 86_400_000))
  const from = format.day(period.start)
  const limited = gauges.some((one) => share(one) > 0 || one.limit !== null)
  return (
    <Section
      title={<Trans>Usage since {from}</Trans>}
      end={paused ? <Status tone="warn"><Trans>Paused until paid</Trans></Status> : <><Plural value={days} one="# day left" other="# days left" /> · <Link to="/plan/usage"><Trans>All usage</Trans></Link></>}
    >
      <div className="bars">
        {limited && <div className="bar head" aria-hidden="true"><div /><div className="limit"><span><Trans>Limit</Trans></span></div><div /></div>}
        {gauges.map((one) => <MeterBar key={one.code} gauge={one} period={period} paused={paused} />)}
        <PlacesBar />
      </div>
    </Section>
  )
}
