import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Button } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Section } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { When } from '../../ui/When'
import { SecretDialog } from '../Secret'
import type { Scope } from '../scope'
import { endpointsQuery, hooksOf } from './api'
import { EndpointForm } from './EndpointForm'
import { EndpointState } from './EndpointState'

/** A link to the page of an endpoint. */
function EndpointLink({ of, scope }: { of: Schema<'WebhookEndpoint'>; scope: Scope }) {
  const to = scope === 'platform' ? '/platform/developers/webhooks/$endpointId' : '/developers/webhooks/$endpointId'
  return <Link className="rowlink" to={to} params={{ endpointId: of.id }}>{of.url}</Link>
}

/** The webhook endpoints of the platform or a tenant: the list and the form to add one. */
export function Endpoints({ scope }: { scope: Scope }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const endpoints = useQuery(endpointsQuery(scope))
  const [creating, setCreating] = useState(false)
  const [made, setMade] = useState<Schema<'NewWebhookEndpoint'>>()
  const create = <Button size="s" icon="plus" onClick={() => setCreating(true)}><Trans>New endpoint</Trans></Button>
  return (
    <Section
      title={<Trans>Webhooks</Trans>} end={endpoints.data?.length ? create : undefined}
      lead={scope === 'platform'
        ? <Trans>URLs that receive events about all tenants: subscriptions, invoices, members and limits.</Trans>
        : <Trans>URLs that receive events about your subscription, invoices, members and limits.</Trans>}
    >
      <Read query={endpoints}>
        {(list) => list.length === 0
          ? (
            <Empty slim icon="hook" title={<Trans>No endpoints yet</Trans>} actions={<Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New endpoint</Trans></Button>}>
              <Trans>Add a URL of your application to be notified of changes immediately, without polling the API.</Trans>
            </Empty>
          )
          : (
            <table className="table mid cards rows">
              <thead>
                <tr>
                  <th scope="col"><Trans>URL</Trans></th>
                  <th scope="col"><Trans>Events</Trans></th>
                  <th scope="col"><Trans>Status</Trans></th>
                  <th scope="col"><Trans>Last successful delivery</Trans></th>
                </tr>
              </thead>
              <tbody>
                {list.map((one) => (
                  <tr key={one.id}>
                    <td className="k1 break"><EndpointLink of={one} scope={scope} />{one.description && <small>{one.description}</small>}</td>
                    <td className="k2" data-l={t`Events`}>{one.events.includes('*') ? <Trans context="events">All</Trans> : <span title={one.events.join(', ')}><Plural value={one.events.length} one="# type" other="# types" /></span>}</td>
                    <td className="k3"><EndpointState of={one} /></td>
                    <td className="k4 muted" data-l={t`Last successful delivery`}>{one.last_delivery_at ? <When at={one.last_delivery_at} /> : <Trans>None yet</Trans>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
      </Read>
      <EndpointForm
        open={creating} onClose={() => setCreating(false)}
        onSave={async (wanted) => {
          const endpoint = await hooksOf(scope).create(wanted)
          await queries.invalidateQueries({ queryKey: endpointsQuery(scope).queryKey })
          setCreating(false)
          setMade(endpoint)
        }}
      />
      <SecretDialog secret={made?.secret} onClose={() => setMade(undefined)} title={<Trans>The secret of this endpoint</Trans>}>
        <Trans>Use this secret to verify that events come from us. Keep it private.</Trans>
      </SecretDialog>
    </Section>
  )
}
