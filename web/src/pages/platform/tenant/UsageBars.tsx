import { Trans } from '@lingui/react/macro'
import type { CSSProperties, ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { ButtonLink } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Read } from '../../../ui/Read'
import { usePlatformMay } from '../may'
import { MeterStatus } from './LimitList'
import { lowestOf, stateOf, useLimited, type Limited } from './limits'

function Bar({ of }: { of: Limited }) {
  const format = useFormat()
  const quota = of.quota!
  const { current_usage: used, cap, quota_limit, grants_remaining: granted } = quota
  const limit = lowestOf(quota)
  const state = stateOf(quota)
  const tone = limit === null ? 'none' : state === 'cap' || state === 'limit' ? 'bad' : state ? 'warn' : ''
  const value = limit ? Math.min(4 / 3, used / limit) : limit === 0 && used > 0 ? 1 : 0
  const until = of.limit?.override?.expires_at && format.day(of.limit.override.expires_at)
  const [so, all, more] = [format.number(used), limit === null ? '' : format.quantity(limit, of.unit), format.quantity(granted, of.unit)]
  const below: ReactNode = state ? <MeterStatus of={quota} />
    : of.limit?.override ? (until ? <Trans>Override until {until}</Trans> : <Trans>Override</Trans>)
      : limit === null ? <Trans>No limit in the plan</Trans> : null
  const remark = granted > 0 ? <Trans>{more} more granted</Trans> : limit !== null && limit === cap && cap !== quota_limit ? <Trans>Cap set by the customer</Trans> : null
  return (
    <div className="bar">
      <div className="name"><b>{of.name}</b>{below && <span>{below}</span>}</div>
      <div className={`track ${tone}`} style={{ '--v': value, '--f': value } as CSSProperties}><i /></div>
      <div className="fig"><b>{limit === null ? format.quantity(used, of.unit) : <Trans>{so} of {all}</Trans>}</b>{remark && <span>{remark}</span>}</div>
    </div>
  )
}

/** The usage of each meter against its lowest limit. */
export function UsageBars({ id }: { id: string }) {
  const may = usePlatformMay()
  const { quotas, counted } = useLimited(id)
  return (
    <Read query={quotas} lines={4}>
      {() => (counted.length === 0
        ? <Empty slim level="h3" icon="gauge" title={<Trans>No meters yet</Trans>} actions={may('meters.manage') && <ButtonLink size="s" to="/platform/meters"><Trans>Open meters</Trans></ButtonLink>}><Trans>Usage of each meter in the plan appears here.</Trans></Empty>
        : <div className="bars narrow">{counted.map((one) => <Bar key={one.code} of={one} />)}</div>)}
    </Read>
  )
}
