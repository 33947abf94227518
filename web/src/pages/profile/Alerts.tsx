import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { $api, api, ApiError } from '../../api/client'
import { readAlerts, turnAlertsOff, turnAlertsOn } from '../../app/alerts'
import { useSettings } from '../../app/session'
import { Button } from '../../ui/Button'
import { Note, Problem } from '../../ui/Messages'
import { Section } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { useAction } from '../tenant/shared/Action'

/**
 * Alerts about limits, which this browser shows even if no page is open. It only asks for
 * permission after a click.
 */
export function Alerts() {
  const { t } = useLingui()
  const queries = useQueryClient()
  const { push_public_key: key } = useSettings()
  const browsers = $api.useQuery('get', '/api/v1/push-subscriptions', {})
  const endpoints = browsers.data?.data.map((one) => one.endpoint)
  const alerts = useQuery({ queryKey: ['alerts', endpoints], queryFn: () => readAlerts(endpoints ?? []), enabled: endpoints !== undefined, staleTime: 0 })
  const others = endpoints?.filter((one) => one !== alerts.data?.endpoint) ?? []
  async function again() {
    await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === '/api/v1/push-subscriptions' })
    await queries.invalidateQueries({ queryKey: ['alerts'] })
  }
  const on = useMutation({
    mutationFn: () => turnAlertsOn(key),
    onSuccess: (allowed) => { if (allowed) toast(t`Alerts are on in this browser`) },
    onSettled: again,
  })
  const off = useAction(async () => {
    await turnAlertsOff()
    await again()
    toast(t`Alerts are off in this browser`)
  }, t`Alerts are still on`)
  const offElsewhere = useAction(async () => {
    for (const endpoint of others) await api.DELETE('/api/v1/push-subscriptions', { body: { endpoint } })
    await again()
    toast(t`Alerts are off in all other browsers`)
  }, t`Alerts are still on`)
  const state = alerts.data?.state
  return (
    <Section id="alerts" title={<Trans>Alerts</Trans>} lead={<Trans>Get a browser notification when usage is close to a limit or has reached it, even when no page of ours is open. For the owner and admins.</Trans>}>
      <Read query={browsers} lines={2}>
        {() => (
          <div className="stack form" aria-live="polite">
            {state === 'unsupported' && <Note icon="info" title={<Trans>This browser cannot show alerts</Trans>}><Trans>You will still be notified by email. Try another browser, or use this one outside a private window.</Trans></Note>}
            {state === 'denied' && <Note tone="warn" title={<Trans>Alerts are blocked in this browser</Trans>}><Trans>Allow notifications for this site in your browser (use the icon next to the address), then come back.</Trans></Note>}
            {state === 'on' && <div className="row"><Status tone="good"><Trans>On in this browser</Trans></Status><span className="end"><Button busy={off.busy} onClick={() => off.run()}><Trans>Turn alerts off</Trans></Button></span></div>}
            {state === 'off' && <div className="row"><Status tone="off"><Trans>Off in this browser</Trans></Status><span className="end"><Button busy={on.isPending} onClick={() => on.mutate()}><Trans>Turn alerts on</Trans></Button></span></div>}
            {on.data === false && state === 'off' && <p className="help"><Trans>No choice was made in the browser’s prompt. Nothing has changed.</Trans></p>}
            {on.isError && (on.error instanceof ApiError
              ? <Problem error={on.error} />
              : <Note tone="bad" title={<Trans>The browser’s notification service cannot be reached</Trans>}><Trans>Alerts are still off. Try again later or use another browser.</Trans></Note>)}
            {others.length > 0 && (
              <div className="row">
                <span className="t13 muted"><Plural value={others.length} one="Also turned on in # other browser" other="Also turned on in # other browsers" /></span>
                <span className="end"><Button size="s" busy={offElsewhere.busy} onClick={() => offElsewhere.run()}><Trans>Turn off in other browsers</Trans></Button></span>
              </div>
            )}
          </div>
        )}
      </Read>
      {off.problem}
      {offElsewhere.problem}
    </Section>
  )
}
