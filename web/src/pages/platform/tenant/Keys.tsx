import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { EndpointState } from '../../../parts/hooks/EndpointState'
import { scopeWords } from '../../../parts/keys/scopes'
import { Empty } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { Status } from '../../../ui/Status'
import { Day, When } from '../../../ui/When'
import { usePlatformMay } from '../may'
import { MissingPermission } from '../NotAllowed'
import { tenantHooksQuery, tenantKeysQuery } from './reads'
import { useCustomer } from './useCustomer'

/** Whether a key is valid, and until when. */
function Validity({ of }: { of: Schema<'APIKey'> }) {
  const over = (at: string | null) => at !== null && new Date(at).getTime() <= now()
  if (over(of.revoked_at)) return <Status tone="off"><Trans>Revoked <When at={of.revoked_at!} /></Trans></Status>
  if (over(of.expires_at)) return <Status tone="off"><Trans>Expired <When at={of.expires_at!} /></Trans></Status>
  const until = of.revoked_at ?? of.expires_at
  return <Status tone="good">{until ? <Day at={until} /> : <Trans>Does not expire</Trans>}</Status>
}

function KeyTable({ keys }: { keys: Schema<'APIKey'>[] }) {
  const { t, i18n } = useLingui()
  if (keys.length === 0) return <Empty slim level="h3" icon="key" title={<Trans>No keys yet</Trans>}><Trans>Members create API keys on the page Developers.</Trans></Empty>
  return (
    <table className="table mid cards rows keys">
      <thead><tr><th scope="col"><Trans>Name</Trans></th><th scope="col"><Trans>Permissions</Trans></th><th scope="col"><Trans>Last used</Trans></th><th scope="col"><Trans>Expires</Trans></th></tr></thead>
      <tbody>
        {keys.map((one) => (
          <tr key={one.id}>
            <td className="k1"><b>{one.name}</b><small><code>{one.prefix}…</code></small></td>
            <td className="k2" data-l={t`Permissions`}>{one.scopes.map((scope) => <span key={scope} className="word" title={scope}>{scopeWords[scope] ? i18n._(scopeWords[scope]) : scope}</span>)}</td>
            <td className="k3" data-l={t`Last used`}>{one.last_used_at ? <When at={one.last_used_at} /> : <span className="faint"><Trans>Never</Trans></span>}</td>
            <td className="k4" data-l={t`Expires`}><Validity of={one} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function HookTable({ hooks }: { hooks: Schema<'WebhookEndpoint'>[] }) {
  const { t } = useLingui()
  if (hooks.length === 0) return <Empty slim level="h3" icon="hook" title={<Trans>No endpoints yet</Trans>}><Trans>Members add webhook endpoints on the page Developers.</Trans></Empty>
  return (
    <table className="table mid cards rows">
      <thead><tr><th scope="col"><Trans>URL</Trans></th><th scope="col"><Trans>Events</Trans></th><th scope="col"><Trans>Status</Trans></th><th scope="col"><Trans>Last successful delivery</Trans></th></tr></thead>
      <tbody>
        {hooks.map((one) => (
          <tr key={one.id}>
            <td className="k1 break"><b>{one.url}</b>{one.description && <small>{one.description}</small>}</td>
            <td className="k2" data-l={t`Events`}>{one.events.includes('*') ? <Trans context="events">All</Trans> : <span title={one.events.join(', ')}><Plural value={one.events.length} one="# type" other="# types" /></span>}</td>
            <td className="k3"><EndpointState of={one} /></td>
            <td className="k4 muted" data-l={t`Last successful delivery`}>{one.last_delivery_at ? <When at={one.last_delivery_at} /> : <Trans>None yet</Trans>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The API keys and webhook endpoints of a tenant. They can only be viewed. */
export default function Keys() {
  const of = useCustomer()
  const may = usePlatformMay()
  const [seesKeys, seesHooks] = [may('api_keys.manage'), may('webhooks.manage')]
  const keys = useQuery({ ...tenantKeysQuery(of.id), enabled: seesKeys })
  const hooks = useQuery({ ...tenantHooksQuery(of.id), enabled: seesHooks })
  if (!seesKeys && !seesHooks) return <MissingPermission slim needs={['api_keys.manage']} />
  return (
    <>
      {seesKeys && <Section className="" title={<Trans>API keys</Trans>}><Read query={keys} lines={3}>{(found) => <KeyTable keys={found} />}</Read></Section>}
      {seesHooks && <Section className={seesKeys ? 'sec' : ''} title={<Trans>Webhooks</Trans>} end={<Link to="/platform/tenants/$tenantId/activity" params={{ tenantId: of.id }} search={{ kind: 'webhooks' }}><Trans>Last deliveries</Trans></Link>}><Read query={hooks} lines={3}>{(found) => <HookTable hooks={found} />}</Read></Section>}
    </>
  )
}
