import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { $api, api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Icon } from '../../../ui/Icon'
import { Read } from '../../../ui/Read'
import { toast } from '../../../ui/Toast'
import { Day, When } from '../../../ui/When'
import { useAction } from '../../tenant/shared/Action'
import { deviceIcon, useDevice } from '../../../parts/device'
import { useFocusNext } from './useFocusNext'

/** The user's sessions, each with a button to end it. */
export function Sessions() {
  const sessions = $api.useQuery('get', '/api/v1/user/sessions', {})
  return <Read query={sessions}>{({ data }) => <List sessions={data} />}</Read>
}

function List({ sessions }: { sessions: Schema<'LoginSession'>[] }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const device = useDevice()
  const root = useFocusNext(sessions.map((one) => one.id))
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
  return (
    <div ref={root}>
      <ul className="items marks">
        {sessions.map((one) => {
          const name = device(one.user_agent)
          return (
            <li key={one.id}>
              <Icon name={deviceIcon(one.user_agent)} />
              <div className="what">
                <div className="nm"><b title={one.user_agent}>{name}</b>{one.current && <span className="tag"><Trans>This session</Trans></span>}</div>
                <p>{one.ip}</p>
                <small>{one.current ? <Trans>Active now</Trans> : <Trans>Last active <When at={one.last_used_at} /></Trans>} · <Trans>Signed in <Day at={one.created_at} /></Trans></small>
              </div>
              {!one.current && (
                <div className="do"><Button size="s" look="quiet" busy={end.busy && end.about?.id === one.id} onClick={() => end.run(one)} aria-label={t`Sign out ${name}`}><Trans>Sign out</Trans></Button></div>
              )}
            </li>
          )
        })}
      </ul>
      <div className="setting-foot">
        {sessions.length > 1
          ? <><Button size="s" busy={endOthers.busy} onClick={() => endOthers.run()}><Trans>Sign out other sessions</Trans></Button><span className="end"><Plural value={sessions.length} one="# session" other="# sessions" /></span></>
          : <span><Trans>You’re signed in only here.</Trans></span>}
      </div>
      {end.problem}
      {endOthers.problem}
    </div>
  )
}
