import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { useHolds, useSettings } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Icon } from '../../../ui/Icon'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { Status } from '../../../ui/Status'
import type { Gauge } from '../home/meters'
import { useWords } from '../shared/words'
import { useGrants } from './reads'

const day = 86_400_000

/** How long used-up and expired units are shown, and how early their end is announced. */
const [recent, soon] = [90 * day, 30 * day]

const endOf = (of: Schema<'Grant'>) => (of.expires_at ? new Date(of.expires_at).getTime() : Infinity)
const isOver = (of: Schema<'Grant'>) => of.remaining <= 0 || endOf(of) <= now()

function Row({ of, gauge }: { of: Schema<'Grant'>; gauge?: Gauge }) {
  const words = useWords()
  const format = useFormat()
  const { app_name } = useSettings()
  const [left, all] = [format.number(of.remaining), words.quantity(of.amount, gauge?.unit ?? null)]
  const name = gauge?.name ?? of.feature_code
  const { reason } = of
  const since = format.dayWithYear(of.created_at)
  const starts = new Date(of.starts_at).getTime() > now() ? format.day(of.starts_at) : ''
  const ends = of.expires_at ? format.day(of.expires_at) : ''
  return (
    <li>
      <div className="what">
        <b><Trans>{left} of {all}</Trans> · {name}</b>
        <p>{of.source === 'purchase' ? <Trans>Purchased on {since}</Trans> : <Trans>Added by {app_name} on {since}</Trans>}</p>
        {reason && <small><Trans>“{reason}”</Trans></small>}
      </div>
      {endOf(of) <= now() ? <Status tone="off"><Trans>Expired on {ends}</Trans></Status>
        : of.remaining <= 0 ? <Status tone="off"><Trans>Used up</Trans></Status>
          : starts ? <Status tone="plain"><Trans>Starts on {starts}</Trans></Status>
            : !ends ? <span className="muted"><Trans>Never expires</Trans></span>
              : endOf(of) - now() < soon ? <Status tone="warn"><Trans>Expires on {ends}</Trans></Status> : <span className="muted"><Trans>Expires on {ends}</Trans></span>}
    </li>
  )
}

/** The prepaid units: those that expire first come first, then used-up and expired ones. */
export function Prepaid({ gauges, onBuy }: { gauges: Gauge[]; onBuy?: () => void }) {
  const holds = useHolds()
  const grants = useGrants()
  const meters = new Map(gauges.map((one) => [one.code, one]))
  return (
    <Section className="" title={<Trans>Prepaid units</Trans>} lead={<Trans>Used when a limit is reached. Units that expire first are used first.</Trans>}>
      <Read query={grants} lines={3}>
        {(found) => {
          const shown = found.filter((one) => !isOver(one) || endOf(one) > now() - recent).sort((a, b) => Number(isOver(a)) - Number(isOver(b)) || a.priority - b.priority || endOf(a) - endOf(b))
          return shown.length === 0
            ? <p className="t13 muted"><Trans>No prepaid units</Trans></p>
            : <ul className="items">{shown.map((one) => <Row key={one.id} of={one} gauge={meters.get(one.feature_code)} />)}</ul>
        }}
      </Read>
      {onBuy ? <div className="setting-foot"><Button size="s" onClick={onBuy}><Trans>Buy a pack</Trans></Button></div>
        : !holds('billing.manage') && <p className="lockline setting-foot"><Icon name="lock" /><span><Trans>Only members who manage billing can buy packs.</Trans></span></p>}
    </Section>
  )
}
