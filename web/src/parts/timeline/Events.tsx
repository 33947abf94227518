import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { now } from '../../app/clock'
import { useFormat, type Formats } from '../../app/format'
import { Icon } from '../../ui/Icon'
import { When } from '../../ui/When'
import { dayWord, hasOwnDay } from './days'
import { say } from './say'
import type { Entry, NameOf, Said } from './types'

interface Props {
  entries: Entry[]
  /** Finds names of objects that the service does not return. */
  name?: NameOf
  /** Shows the tenant of each entry with a link, for lists of the platform. */
  withTenant?: boolean
  /** Links to the user's own invoices. */
  withInvoices?: boolean
  /** Adds a heading for each day and month. */
  byDay?: boolean
}

const noName: NameOf = () => undefined

function TenantName({ of }: { of: Entry['tenant'] }) {
  const { colon } = useFormat()
  if (!of?.name) return null
  return <><Link to="/platform/tenants/$tenantId" params={{ tenantId: of.id }}>{of.name}</Link>{colon} </>
}

function InvoiceName({ of, link }: { of: NonNullable<Said['invoice']>; link?: boolean }) {
  const { number } = of
  return <small>{link ? <Link to="/invoices/$invoiceId" params={{ invoiceId: of.id }}><Trans>Invoice {number}</Trans></Link> : <Trans>Invoice {number}</Trans>}</small>
}

/** The time of an entry; below the heading of a month, its day. */
function Time({ at, byDay, format }: { at: string; byDay?: boolean; format: Formats }) {
  const age = now() - new Date(at).getTime()
  if (!byDay || age < 3_600_000) return <When at={at} />
  return <time dateTime={at} title={format.exact(at)}>{hasOwnDay(at) ? format.time(at) : format.shortDay(at)}</time>
}

/** Time line entries in plain words, newest first. */
export function Events({ entries, name = noName, withTenant, withInvoices, byDay }: Props) {
  const format = useFormat()
  const { i18n } = useLingui()
  return (
    <ul className="events">
      {entries.map((entry, i) => {
        const { icon, tone, text, small, invoice } = say(entry, name, format, i18n.locale)
        const day = byDay ? dayWord(entry.at, format) : undefined
        const again = i > 0 && byDay && dayWord(entries[i - 1]!.at, format) === day
        return (
          <Fragment key={entry.id}>
            {day && !again && <li className="day">{day}</li>}
            <li>
              <span className={`ic ${tone ?? ''}`}><Icon name={icon} /></span>
              <p>
                {withTenant && <TenantName of={entry.tenant} />}{text}
                {small && <small>{small}</small>}
                {invoice && <InvoiceName of={invoice} link={withInvoices} />}
              </p>
              <Time at={entry.at} byDay={byDay} format={format} />
            </li>
          </Fragment>
        )
      })}
    </ul>
  )
}
