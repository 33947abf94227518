import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { LimitMeter } from '../../../parts/usage/LimitMeter'
import { Button } from '../../../ui/Button'
import { Status } from '../../../ui/Status'
import { usePlatformMay } from '../may'
import { useAsk } from './asked'
import { limitWord, lowestOf, stateOf, type Limited } from './limits'
import { invitationsQuery } from './reads'

/** The state of a meter in words; nothing if all is well. */
export function MeterStatus({ of }: { of: Schema<'MeterQuota'> }) {
  const format = useFormat()
  const state = stateOf(of)
  const { rejected } = of
  const count = rejected > 0 && <>, <Plural value={rejected} one="# event rejected" other="# events rejected" /></>
  if (state === 'cap') return <Status tone="bad"><Trans>Cap reached</Trans>{count}</Status>
  if (state === 'limit') return <Status tone="bad"><Trans>Limit reached</Trans>{count}</Status>
  if (state === 'granted') return <Status tone="warn"><Trans>Limit reached, granted units are used</Trans></Status>
  if (state === 'over') return <Status tone="warn"><Trans>Over the limit, allowed</Trans></Status>
  if (state !== 'near') return rejected > 0 ? <Status tone="warn"><Plural value={rejected} one="# event rejected" other="# events rejected" /></Status> : null
  const share = format.percent(Math.floor((of.current_usage / lowestOf(of)!) * 100) / 100)
  const alerted = of.alerts.some((one) => one.sent_at !== null)
  return <Status tone="warn">{alerted ? <Trans>{share} used, customer alerted</Trans> : <Trans>{share} used</Trans>}</Status>
}

/** The author of an override: a user, an API key, or the platform. */
function ByWords({ by }: { by: Schema<'Author'> }) {
  return by.type === 'api_key' ? <Trans>API key {by.name}</Trans> : by.name
}

/** The source of a limit: the plan or an override, and the customer's own cap. */
function Source({ of, cap }: { of: Limited; cap: number | null }) {
  const format = useFormat()
  const limit = of.limit
  const effective = limit?.effective ?? (of.quota && !limit && of.quota.quota_limit !== null ? { type: 'quota' as const, value: of.quota.quota_limit } : null)
  const planned = limitWord(limit?.plan, of.unit, true, format)
  const override = limit?.override
  const reason = override?.reason
  const until = override?.expires_at && format.dayWithYear(override.expires_at)
  const by = of.quota?.cap_by?.name
  const own = cap === null ? '' : format.quantity(cap, of.unit)
  return (
    <div className="what">
      <b>{limitWord(effective, of.unit, true, format)} {override && <span className="tag"><Trans>Override</Trans></span>}</b>
      {limit && (limit.plan ? <small><Trans>Plan: {planned}.</Trans> {until && <Trans>Expires on {until}.</Trans>}</small> : override && until && <small><Trans>Expires on {until}.</Trans></small>)}
      {override && <small><Trans>“{reason}”</Trans>, <ByWords by={override.by} />, {format.ago(override.created_at)}</small>}
      {!limit?.plan && !override && effective === null && <small><Trans>Neither the plan nor an override sets a limit.</Trans></small>}
      {cap !== null && <small>{by ? <Trans>{by} set a cap of {own}.</Trans> : <Trans>The customer set a cap of {own}.</Trans>}</small>}
    </div>
  )
}

function Row({ of, resets, status, meter, cap = null }: { of: Limited; resets?: string | null; status?: ReactNode; meter: ReactNode; cap?: number | null }) {
  const { t } = useLingui()
  const format = useFormat()
  const ask = useAsk()
  const may = usePlatformMay()
  const day = resets && format.day(resets)
  return (
    <article className="lim">
      <div>
        <h3>{of.name}</h3><code>{of.code}</code>
        {day && <small className="resets"><Trans>Resets on {day}</Trans></small>}
        {status}
      </div>
      {meter}
      <Source of={of} cap={cap} />
      <div className="acts">
        {may('limits.manage') && <Button size="s" aria-label={t`Change limit of ${of.name}`} onClick={() => ask({ dialog: 'limit', feature: of.code })}><Trans>Change limit</Trans></Button>}
        {may('limits.manage') && of.quota && <Button size="s" look="quiet" aria-label={cap === null ? t`Set cap of ${of.name}` : t`Change cap of ${of.name}`} onClick={() => ask({ dialog: 'cap', feature: of.code })}>{cap === null ? <Trans>Set cap</Trans> : <Trans>Change cap</Trans>}</Button>}
        {may('limits.manage') && of.grantable && <Button size="s" look="quiet" aria-label={t`Grant units of ${of.name}`} onClick={() => ask({ dialog: 'grant', feature: of.code })}><Trans>Grant units</Trans></Button>}
      </div>
    </article>
  )
}

function CountedRow({ of, quota }: { of: Limited; quota: Schema<'MeterQuota'> }) {
  const format = useFormat()
  const { current_usage, reserved, quota_limit: limit, cap, grants_remaining: granted } = quota
  const state = stateOf(quota)
  const tone = state === 'cap' || state === 'limit' ? 'bad' : state ? 'warn' : ''
  const words = (value: number) => format.quantity(value, of.unit)
  const [used, held, more] = [words(current_usage), words(reserved), words(granted)]
  const lowest = lowestOf(quota)
  const capped = cap !== null && lowest === cap && cap !== limit
  const left = lowest === null ? 0 : lowest - current_usage - reserved
  const rest = words(left)
  return (
    <Row
      of={of} resets={quota.resets_at} cap={cap} status={<MeterStatus of={quota} />}
      meter={(
        <LimitMeter
          used={current_usage} reserved={reserved} granted={granted} limit={limit} cap={cap} unit={of.unit} tone={tone}
          parts={[
            { look: tone, text: <Trans>{used} used</Trans> },
            ...(reserved > 0 ? [{ look: 'h' as const, text: <Trans>{held} reserved</Trans> }] : []),
            ...(left > 0 ? [{ look: 'f' as const, text: capped ? <Trans>{rest} until the cap</Trans> : <Trans>{rest} left</Trans> }] : []),
            ...(of.grantable && (granted > 0 || state === 'limit') ? [{ look: 'g' as const, text: <Trans>{more} granted units left</Trans> }] : []),
          ]}
        />
      )}
    />
  )
}

function SeatsRow({ of, tenant }: { of: Limited; tenant: Schema<'AdminTenant'> }) {
  const open = (useQuery(invitationsQuery(tenant.id)).data ?? []).filter((one) => !one.is_expired).length
  const { member_count: members } = tenant
  const limit = of.limit?.effective?.type === 'none' ? 0 : of.limit?.effective?.value ?? null
  const taken = members + open
  const tone = limit !== null && taken >= limit ? 'warn' : ''
  return (
    <Row
      of={of}
      meter={(
        <LimitMeter
          used={members} reserved={open} limit={limit} unit={null} tone={tone}
          parts={[
            { look: tone, text: <Plural value={members} one="# member" other="# members" /> },
            ...(open > 0 ? [{ look: 'h' as const, text: <Plural value={open} one="# invitation" other="# invitations" /> }] : []),
            ...(limit !== null && limit > taken ? [{ look: 'f' as const, text: <Plural value={limit - taken} one="# left" other="# left" /> }] : []),
          ]}
        />
      )}
    />
  )
}

/** The meters and the seats of a tenant with their limits, most urgent first. */
export function LimitList({ counted, seats, tenant }: { counted: Limited[]; seats?: Limited; tenant: Schema<'AdminTenant'> }) {
  const rank = { cap: 0, limit: 0, over: 1, granted: 1, near: 2, '': 3 }
  const rankOf = ({ quota }: Limited) => (quota ? rank[stateOf(quota)] : 4)
  return (
    <div className="lims">
      {counted.toSorted((a, b) => rankOf(a) - rankOf(b)).map((one) => <CountedRow key={one.code} of={one} quota={one.quota!} />)}
      {seats && <SeatsRow of={seats} tenant={tenant} />}
    </div>
  )
}
