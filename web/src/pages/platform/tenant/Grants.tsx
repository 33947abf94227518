import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type CSSProperties } from 'react'
import { api, type Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Empty } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { useAsk } from './asked'
import type { Limited } from './limits'
import { grantsQuery, tenantKey } from './reads'

/** The days for which used-up and expired grants are shown. */
const recent = 90

type Phase = 'valid' | 'later' | 'used' | 'expired'

function phaseOf(of: Schema<'Grant'>): Phase {
  const at = now()
  if (of.expires_at && new Date(of.expires_at).getTime() <= at) return 'expired'
  if (of.remaining <= 0) return 'used'
  return new Date(of.starts_at).getTime() > at ? 'later' : 'valid'
}

/** Compares grants by the order of use: priority, then expiry (never last), then age. */
function byUse(a: Schema<'Grant'>, b: Schema<'Grant'>): number {
  const never = '9999'
  return a.feature_code.localeCompare(b.feature_code) || a.priority - b.priority
    || (a.expires_at ?? never).localeCompare(b.expires_at ?? never) || a.created_at.localeCompare(b.created_at)
}

function Row({ of, place, meter, tenant }: { of: Schema<'Grant'>; place?: number; meter?: Limited; tenant: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const [asked, setAsked] = useState(false)
  const phase = phaseOf(of)
  const name = meter?.name ?? of.feature_code
  const unit = meter?.unit ?? null
  const [left, all] = [format.quantity(of.remaining, unit), format.quantity(of.amount, unit)]
  const starts = format.dayWithYear(of.starts_at)
  const ends = of.expires_at && format.dayWithYear(of.expires_at)
  return (
    <tr className={phase === 'used' || phase === 'expired' ? 'is-over' : undefined}>
      <td className="k1">{place ? <span className="ord">{place}</span> : <span className="ord no">–</span>}</td>
      <td className="k2"><b>{name}</b></td>
      <td className="num k3"><b>{left}</b> <span className="faint"><Trans>of {all}</Trans></span><span className="minibar" aria-hidden="true"><i style={{ '--v': `${(of.remaining / of.amount) * 100}%` } as CSSProperties} /></span></td>
      <td className="k4">{of.source === 'purchase' ? <Trans>Purchased</Trans> : <Trans>Granted</Trans>}{of.pack && <small><code>{of.pack}</code></small>}{of.reason && <small>“{of.reason}”</small>}</td>
      <td className="k5">
        {phase === 'used' ? <Status tone="off"><Trans>Used up</Trans></Status>
          : phase === 'expired' ? <Status tone="off"><Trans>Expired on {ends}</Trans></Status>
            : phase === 'later' ? <Status tone="plain"><Trans>Starts on {starts}</Trans></Status>
              : ends ? <Trans>Until {ends}</Trans> : <Trans>Never expires</Trans>}
      </td>
      <td className="num k6">{format.number(of.priority)}</td>
      <td className="acts-cell k7">
        <Button size="s" look="quiet" aria-label={t`Delete the grant of ${all}, ${name}`} onClick={() => setAsked(true)}><Trans>Delete</Trans></Button>
        <Confirm
          open={asked} onClose={() => setAsked(false)} title={<Trans>Delete {left} granted units of {name}?</Trans>} action={<Trans>Delete grant</Trans>}
          onConfirm={async () => {
            await api.DELETE('/api/v1/admin/tenants/{tenant}/grants/{grant}', { params: { path: { tenant, grant: of.id } } })
            await Promise.all([queries.invalidateQueries({ queryKey: tenantKey(tenant) }), queries.invalidateQueries({ queryKey: ['audit'] })])
            toast(<Trans>The grant was deleted.</Trans>)
          }}
        >
          <p><Trans>They are lost. Units already used stay free.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}

/** The granted and purchased units in the order of use; below, used-up and expired ones. */
export function Grants({ tenant, counted }: { tenant: Schema<'AdminTenant'>; counted: Limited[] }) {
  const { t } = useLingui()
  const ask = useAsk()
  const grants = useQuery(grantsQuery(tenant.id))
  const [older, setOlder] = useState(false)
  const meters = new Map(counted.map((one) => [one.code, one]))
  const grant = counted.some((one) => one.grantable) && <Button size="s" onClick={() => ask({ dialog: 'grant' })}><Trans>Grant units</Trans></Button>
  return (
    <Section title={<Trans>Granted units</Trans>} end={grants.data?.length ? grant : undefined} lead={<Trans>Used in this order once a limit is reached: lowest priority number, then earliest expiry, then oldest.</Trans>}>
      <Read query={grants} lines={3}>
        {(found) => {
          if (found.length === 0) return <Empty slim level="h3" icon="plus" title={<Trans>No granted units</Trans>} actions={grant}><Trans>Granted units are used once a limit is reached.</Trans></Empty>
          const by = (...phases: Phase[]) => found.filter((one) => phases.includes(phaseOf(one))).sort(byUse)
          const valid = by('valid')
          const over = by('used', 'expired')
          const cutoff = new Date(now() - recent * 86_400_000).toISOString()
          const fresh = over.filter((one) => (one.expires_at ?? one.created_at) >= cutoff)
          const shown = older ? over : fresh
          const places = new Map<string, number>()
          const place = (one: Schema<'Grant'>) => {
            const at = (places.get(one.feature_code) ?? 0) + 1
            places.set(one.feature_code, at)
            return at
          }
          return (
            <>
              <table className="table mid cards grants">
                <thead>
                  <tr>
                    <th scope="col" className="fit"><Trans>Order</Trans></th><th scope="col"><Trans>Meter</Trans></th><th scope="col" className="num"><Trans>Left</Trans></th><th scope="col"><Trans>Source</Trans></th>
                    <th scope="col"><Trans>Valid</Trans></th><th scope="col" className="num"><Trans>Priority</Trans></th><th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
                  </tr>
                </thead>
                <tbody>
                  {valid.map((one) => <Row key={one.id} of={one} place={place(one)} meter={meters.get(one.feature_code)} tenant={tenant.id} />)}
                  {[...by('later'), ...shown].map((one) => <Row key={one.id} of={one} meter={meters.get(one.feature_code)} tenant={tenant.id} />)}
                </tbody>
              </table>
              {shown.length < over.length && <Button className="earlier" size="s" onClick={() => setOlder(true)}>{plural(over.length - fresh.length, { one: 'Show # older grant', other: 'Show # older grants' })}</Button>}
            </>
          )
        }}
      </Read>
    </Section>
  )
}
