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

/** Alerts about limits, shown by this browser also when no page is open. The browser is asked only on a click. */
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
  }, t`The alerts are still on`)
  const offElsewhere = useAction(async () => {
    for (const endpoint of others) await api.DELETE('/api/v1/push-subscriptions', { body: { endpoint } })
    await again()
    toast(t`Alerts are off in all other browsers`)
  }, t`The alerts are still on`)
  const state = alerts.data?.state
  return (
    <Section title={<Trans>Alerts</Trans>} lead={<Trans>A message from the browser when a limit of the plan is near or reached, also when no page of ours is open. Owners and admins get it.</Trans>}>
      <Read query={browsers} lines={2}>
        {() => (
          <div className="stack form" aria-live="polite">
            {state === 'unsupported' && <Note icon="info" title={<Trans>This browser cannot show alerts</Trans>}><Trans>You get a mail in any case. Another browser, or this one outside a private window, may show them.</Trans></Note>}
            {state === 'denied' && <Note tone="warn" title={<Trans>This browser was told not to show alerts</Trans>}><Trans>Allow messages from this page in the browser’s settings, beside its address, and come back.</Trans></Note>}
            {state === 'on' && <div className="row"><Status tone="good"><Trans>On in this browser</Trans></Status><span className="end"><Button busy={off.busy} onClick={() => off.run()}><Trans>Turn alerts off</Trans></Button></span></div>}
            {state === 'off' && <div className="row"><Status tone="off"><Trans>Off in this browser</Trans></Status><span className="end"><Button busy={on.isPending} onClick={() => on.mutate()}><Trans>Turn alerts on</Trans></Button></span></div>}
            {on.data === false && state === 'off' && <p className="help"><Trans>The browser asked, and nothing was chosen. Nothing has changed.</Trans></p>}
            {on.isError && (on.error instanceof ApiError
              ? <Problem error={on.error} />
              : <Note tone="bad" title={<Trans>The browser’s message service cannot be reached</Trans>}><Trans>Alerts stay off. Try again later, or with another browser.</Trans></Note>)}
            {others.length > 0 && (
              <div className="row">
                <span className="t13 muted"><Plural value={others.length} one="On in # other browser, too" other="On in # other browsers, too" /></span>
                <span className="end"><Button size="s" busy={offElsewhere.busy} onClick={() => offElsewhere.run()}><Trans>Turn them off there</Trans></Button></span>
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
