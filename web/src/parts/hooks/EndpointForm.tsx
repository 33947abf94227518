import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { Check, TextField } from '../../ui/Field'
import { Form } from '../../ui/Form'
import { EventChoices } from './EventChoices'
import { eventTypes, type EventType } from './types'

interface Wanted {
  url: string
  description: string | null
  events: string[]
}

interface Props {
  open: boolean
  onClose: () => void
  /** The endpoint to change; undefined creates one. */
  of?: Schema<'WebhookEndpoint'>
  onSave: (wanted: Wanted) => Promise<unknown>
}

/** Creates an endpoint, or changes its URL and events. */
export function EndpointForm(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.of ? <Trans>Edit endpoint</Trans> : <Trans>New endpoint</Trans>} wide>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ of, onClose, onSave }: Props) {
  const { t } = useLingui()
  const [all, setAll] = useState(of ? of.events.includes('*') : true)
  const [events, setEvents] = useState<EventType[]>(of ? eventTypes.filter((one) => of.events.includes(one)) : [])
  return (
    <Form
      className="stack"
      onSubmit={(values) => onSave({
        url: String(values.url).trim(), description: String(values.description).trim() || null, events: all ? ['*'] : events,
      })}
    >
      {({ busy }) => (
        <>
          <TextField
            name="url" type="url" inputMode="url" label={t`URL`} placeholder="https://" defaultValue={of?.url} autoComplete="off" data-autofocus
            help={t`We send events to this URL with POST, signed according to Standard Webhooks.`}
          />
          <TextField name="description" label={t`Description`} hint={t`optional`} defaultValue={of?.description ?? ''} autoComplete="off" />
          <Check checked={all} onChange={(event) => setAll(event.target.checked)} small={<Trans>Includes event types added later.</Trans>}>
            <Trans>All events</Trans>
          </Check>
          {!all && <EventChoices value={events} onChange={setEvents} />}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{of ? <Trans>Save</Trans> : <Trans>Create endpoint</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
