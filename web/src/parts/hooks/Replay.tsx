import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import type { Schema } from '../../api/client'
import { now } from '../../app/clock'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { SelectField } from '../../ui/Field'
import { Form } from '../../ui/Form'
import { toast } from '../../ui/Toast'
import type { Scope } from '../scope'
import { hooksKey, hooksOf } from './api'

const hours = [1, 24, 7 * 24, 29 * 24]

/** Sends again what has failed since a time. */
export function Replay({ of, scope, open, onClose }: { of: Schema<'WebhookEndpoint'>; scope: Scope; open: boolean; onClose: () => void }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  async function send(value: string) {
    const since = new Date(now() - Number(value) * 3_600_000).toISOString()
    const { deliveries } = await hooksOf(scope).replay(of.id, since)
    await queries.invalidateQueries({ queryKey: hooksKey(scope) })
    onClose()
    toast(<Plural value={deliveries} _0="Nothing had failed in this time." one="# event is sent again." other="# events are sent again." />)
  }
  const words = [t`the last hour`, t`the last day`, t`the last 7 days`, t`the last 29 days`]
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Send failed ones again</Trans>}>
      <Form className="stack" onSubmit={(values) => send(String(values.since))}>
        {({ busy }) => (
          <>
            <p className="flat"><Trans>Your program may get an event that it has had already: it knows it by its id.</Trans></p>
            <SelectField name="since" label={t`What failed in`} defaultValue="24">
              {hours.map((one, i) => <option key={one} value={one}>{words[i]}</option>)}
            </SelectField>
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Send again</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
