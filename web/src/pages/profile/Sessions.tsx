import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { $api, api, type Schema } from '../../api/client'
import { Button } from '../../ui/Button'
import { Section } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { When } from '../../ui/When'
import { useAction } from '../tenant/shared/Action'
import { deviceOf } from './device'

/** The user's sessions, each with a button to end it. */
export function Sessions() {
  const { t } = useLingui()
  const queries = useQueryClient()
  const sessions = $api.useQuery('get', '/api/v1/user/sessions', {})
  const again = () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === '/api/v1/user/sessions' })
  const end = useAction(async (one: Schema<'LoginSession'>) => {
    await api.DELETE('/api/v1/user/sessions/{id}', { params: { path: { id: one.id } } })
    await again()
    toast(t`The session was ended`)
  }, t`The session is still active`)
  const endOthers = useAction(async () => {
    await api.DELETE('/api/v1/user/sessions')
    await again()
    toast(t`All other sessions were ended`)
  }, t`The sessions are still active`)
  const several = (sessions.data?.data.length ?? 0) > 1
  return (
    <Section
      title={<Trans>Active sessions</Trans>}
      end={several && <Button size="s" busy={endOthers.busy} onClick={() => endOthers.run()}><Trans>End all other sessions</Trans></Button>}
    >
      <Read query={sessions}>
        {({ data }) => (
          <table className="table cards mid plainrows">
            <thead>
              <tr>
                <th scope="col"><Trans>Device</Trans></th><th scope="col"><Trans>IP address</Trans></th><th scope="col"><Trans>Last used</Trans></th>
                <th scope="col" className="fit"><span className="sr"><Trans>Actions</Trans></span></th>
              </tr>
            </thead>
            <tbody>
              {data.map((one) => {
                const device = deviceOf(one.user_agent)
                return (
                  <tr key={one.id}>
                    <td className="k1" title={one.user_agent}><b>{device}</b>{one.kind === 'token' && <small><Trans>Application that uses tokens</Trans></small>}</td>
                    <td className="k2 muted">{one.ip}</td>
                    <td className="k3">{one.current ? <Status tone="good"><Trans>This browser</Trans></Status> : <When at={one.last_used_at} />}</td>
                    <td className="acts-cell k4">
                      {!one.current && <Button size="s" busy={end.busy && end.about?.id === one.id} onClick={() => end.run(one)} aria-label={t`End session on ${device}`}><Trans>End session</Trans></Button>}
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        )}
      </Read>
      {end.problem}
      {endOthers.problem}
    </Section>
  )
}
