import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useFormat, type Formats } from '../../app/format'
import { Icon } from '../../ui/Icon'
import { When } from '../../ui/When'
import { sayChange } from './changes'
import type { Entry } from './types'
import { dayWord } from './days'

interface Props {
  entries: Entry[]
  /** Names the tenant of each entry and links to it: for lists of the platform. */
  withTenant?: boolean
  /** Puts a heading above the entries of each day and month. */
  byDay?: boolean
}

function TenantName({ of }: { of: Entry['tenant'] }) {
  if (!of) return null
  return <><Link to="/platform/tenants/$tenantId" params={{ tenantId: String(of.id) }}>{of.name}</Link>: </>
}

/** The time of an entry below a heading that names its day already. */
function Time({ at, byDay, format }: { at: string; byDay?: boolean; format: Formats }) {
  if (!byDay || Date.now() - new Date(at).getTime() < 3_600_000) return <When at={at} />
  const old = Date.now() - new Date(at).getTime() > 2 * 86_400_000
  return <time dateTime={at} title={format.exact(at)}>{old ? format.shortDay(at) : format.time(at)}</time>
}

/** What happened, the newest first, in plain words. */
export function Events({ entries, withTenant, byDay }: Props) {
  const format = useFormat()
  return (
    <ul className="events">
      {entries.map((entry, i) => {
        const { icon, text, small } = sayChange(entry)
        const day = byDay ? dayWord(entry.at, format) : undefined
        const again = i > 0 && byDay && dayWord(entries[i - 1]!.at, format) === day
        return (
          <Fragment key={entry.id}>
            {day && !again && <li className="day">{day}</li>}
            <li>
              <span className="ic"><Icon name={icon} /></span>
              <p>{withTenant && <TenantName of={entry.tenant} />}{text}{small && <small>{small}</small>}</p>
              <Time at={entry.at} byDay={byDay} format={format} />
            </li>
          </Fragment>
        )
      })}
    </ul>
  )
}
