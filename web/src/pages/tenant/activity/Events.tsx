import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useTenant } from '../../../app/session'
import { Icon } from '../../../ui/Icon'
import { When } from '../../../ui/When'
import { useDescribe } from './describe'

/** What happened, in plain words, the newest first; exact with the time of the day. */
export function Events({ entries, exact }: { entries: Schema<'AuditEntry'>[]; exact?: boolean }) {
  const format = useFormat()
  const describe = useDescribe()
  const { users } = useTenant()
  return (
    <ul className="events">
      {entries.map((entry) => {
        const { icon, text, more } = describe(entry)
        const subject = entry.subject_id !== null && (users.find((one) => one.id === entry.subject_id)?.name ?? true)
        return (
          <li key={entry.id}>
            <span className="ic"><Icon name={icon} /></span>
            <p>
              {text}
              {more && <small>{more}</small>}
              {subject && <small>{subject === true ? <Trans>By the support</Trans> : <Trans>By the support, acting as {subject}</Trans>}</small>}
            </p>
            {exact ? <time dateTime={entry.created_at} title={format.exact(entry.created_at)}>{format.time(entry.created_at)}</time> : <When at={entry.created_at} />}
          </li>
        )
      })}
    </ul>
  )
}
