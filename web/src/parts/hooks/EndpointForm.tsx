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
  /** The endpoint to change; a new one without it. */
  of?: Schema<'WebhookEndpoint'>
  onSave: (wanted: Wanted) => Promise<unknown>
}

/** A new endpoint, or another address and other events for one. */
export function EndpointForm(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.of ? <Trans>Change the endpoint</Trans> : <Trans>New endpoint</Trans>} wide>
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
            name="url" type="url" inputMode="url" label={t`Address`} placeholder="https://" defaultValue={of?.url} autoComplete="off" data-autofocus
            help={t`Where we send events with POST, signed as Standard Webhooks describe.`}
          />
          <TextField name="description" label={t`Description`} hint={t`optional`} defaultValue={of?.description ?? ''} autoComplete="off" />
          <Check checked={all} onChange={(event) => setAll(event.target.checked)} small={<Trans>Types that come later too.</Trans>}>
            <Trans>All events</Trans>
          </Check>
          {!all && <EventChoices value={events} onChange={setEvents} />}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{of ? <Trans>Save</Trans> : <Trans>Make the endpoint</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
