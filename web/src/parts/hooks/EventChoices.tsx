import { useLingui } from '@lingui/react/macro'
import { useContext } from 'react'
import { FieldErrors } from '../../ui/Field'
import { Icon } from '../../ui/Icon'
import { eventGroups, type EventType } from './types'

/** The events that an endpoint subscribes to, in groups. */
export function EventChoices({ value, onChange }: { value: EventType[]; onChange: (to: EventType[]) => void }) {
  const { t, i18n } = useLingui()
  const message = useContext(FieldErrors).events?.[0]
  const toggle = (type: EventType, on: boolean) => onChange(on ? [...value, type] : value.filter((one) => one !== type))
  return (
    <fieldset name="events" className="choices" aria-invalid={message ? true : undefined} tabIndex={-1}>
      <legend className="sr">{t`Events`}</legend>
      <div className="grid-2">
        {eventGroups.map((group) => (
          <div key={group.types[0]![0]} className="stack tight" role="group" aria-label={i18n._(group.label)}>
            <p className="cap">{i18n._(group.label)}</p>
            {group.types.map(([type, words]) => (
              <label key={type} className="check">
                <input type="checkbox" checked={value.includes(type)} onChange={(event) => toggle(type, event.target.checked)} />
                <span>{i18n._(words)}<small><code>{type}</code></small></span>
              </label>
            ))}
          </div>
        ))}
      </div>
      {message && <p className="error"><Icon name="alert" />{message}</p>}
    </fieldset>
  )
}
