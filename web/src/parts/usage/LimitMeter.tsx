import { useLingui } from '@lingui/react/macro'
import type { CSSProperties, ReactNode } from 'react'
import { useFormat } from '../../app/format'

/** A part of the legend below a track. */
interface Part {
  /** The look of its key: used, warn, bad, reserved (h), granted (g), free (f). */
  look: '' | 'warn' | 'bad' | 'h' | 'g' | 'f'
  text: ReactNode
}

/**
 * One track with everything that a tenant may use in a period: the limit, granted units, used and
 * reserved units, and the tenant's own cap. The legend repeats it in words.
 */
export function LimitMeter({ used, reserved = 0, granted = 0, limit, cap = null, unit, tone, parts }: {
  used: number; reserved?: number; granted?: number; limit: number | null; cap?: number | null; unit: string | null; tone: '' | 'warn' | 'bad'; parts: Part[]
}) {
  const { t } = useLingui()
  const format = useFormat()
  const taken = used + reserved
  const all = limit === null ? 0 : limit + granted
  const most = Math.max(all, taken, cap ?? 0, 1) * (limit === null ? 1.05 : 1)
  const share = (value: number) => `${((value / most) * 100).toFixed(2)}%`
  const style = { '--v': share(used), '--h': share(reserved), '--l': limit === null ? '0%' : share(limit), '--g': share(all), '--c': share(cap ?? 0) } as CSSProperties
  const near = (value: number) => (value / most < 0.35 ? 'left' : '')
  const ceiling = limit === null ? '' : format.quantity(limit, unit)
  const own = cap === null ? '' : format.quantity(cap, unit)
  return (
    <div>
      <div className={`meter ${tone} ${limit === null ? 'open' : ''}`} style={style} aria-hidden="true">
        <i />
        {reserved > 0 && <u />}
        {granted > 0 && limit !== null && <s />}
        {limit !== null && <span className={`t-lim ${near(limit)}`}><span>{t`Limit ${ceiling}`}</span></span>}
        {cap !== null && <span className={`t-cap ${near(cap)}`}><span>{t`Cap ${own}`}</span></span>}
      </div>
      <ul className="parts">{parts.map((one, i) => <li key={i}><i className={`k ${one.look}`} />{one.text}</li>)}</ul>
    </div>
  )
}
