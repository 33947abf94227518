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

/** Repeats the deliveries that failed since a time. */
export function Replay({ of, scope, open, onClose }: { of: Schema<'WebhookEndpoint'>; scope: Scope; open: boolean; onClose: () => void }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  async function send(value: string) {
    const since = new Date(now() - Number(value) * 3_600_000).toISOString()
    const { deliveries } = await hooksOf(scope).replay(of.id, since)
    await queries.invalidateQueries({ queryKey: hooksKey(scope) })
    onClose()
    toast(<Plural value={deliveries} _0="No failed events in this period." one="Resending # event." other="Resending # events." />)
  }
  const words = [t`the last hour`, t`the last 24 hours`, t`the last 7 days`, t`the last 29 days`]
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Resend failed events</Trans>}>
      <Form className="stack" onSubmit={(values) => send(String(values.since))}>
        {({ busy }) => (
          <>
            <p className="flat"><Trans>Your application may receive the same event twice. Use the event ID to detect duplicates.</Trans></p>
            <SelectField name="since" label={t`Events that failed in`} defaultValue="24">
              {hours.map((one, i) => <option key={one} value={one}>{words[i]}</option>)}
            </SelectField>
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Resend</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
