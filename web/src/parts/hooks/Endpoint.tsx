import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Button } from '../../ui/Button'
import { Confirm } from '../../ui/Confirm'
import { Copy } from '../../ui/Copy'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Note, Problem } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { toast } from '../../ui/Toast'
import { SecretDialog } from '../Secret'
import type { Scope } from '../scope'
import { endpointQuery, hooksKey, hooksOf } from './api'
import { Deliveries } from './Deliveries'
import { EndpointForm } from './EndpointForm'
import { EndpointState } from './EndpointState'
import { Replay } from './Replay'

/** The page of an endpoint: its URL, state and deliveries. */
export function Endpoint({ scope, id }: { scope: Scope; id: string }) {
  const { t } = useLingui()
  const endpoint = useQuery(endpointQuery(scope, id))
  return (
    <Page title={t`Webhook endpoint`} heading={null}>
      <Read query={endpoint} lines={6}>{(of) => <Body of={of} scope={scope} />}</Read>
    </Page>
  )
}

type Asked = 'change' | 'secret' | 'replay' | 'remove' | undefined

function Body({ of, scope }: { of: Schema<'WebhookEndpoint'>; scope: Scope }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const hooks = hooksOf(scope)
  const host = new URL(of.url).host
  const [asked, setAsked] = useState<Asked>()
  const [secret, setSecret] = useState<string>()
  const close = () => setAsked(undefined)
  const reload = () => queries.invalidateQueries({ queryKey: hooksKey(scope) })
  const test = useMutation({ mutationFn: () => hooks.test(of.id), onSuccess: async () => { toast(<Trans>A webhook.test event is being sent.</Trans>); await reload() } })
  const turnTo = async (enabled: boolean) => {
    await hooks.change(of.id, { enabled })
    await reload()
  }
  const turn = useMutation({
    mutationFn: turnTo,
    onSuccess: (_, enabled) => { if (!enabled) toast(<Trans>{host} is disabled.</Trans>, { label: <Trans>Undo</Trans>, run: () => turnTo(true) }) },
  })

  return (
    <>
      <div className="ent">
        <div className="grow0">
          <h1><span className="break">{host}</span> <EndpointState of={of} /></h1>
          <p><Copy text={of.url} whole /></p>
          <p>{of.description ? `${of.description}. ` : ''}{of.events.includes('*') ? <Trans>Receives all events.</Trans> : <Trans>Receives {of.events.join(', ')}.</Trans>}</p>
        </div>
        <div className="acts">
          <Button onClick={() => setAsked('change')}><Trans>Edit</Trans></Button>
          <Button look="primary" icon="bolt" busy={test.isPending} disabled={!of.enabled} onClick={() => test.mutate()}><Trans>Send test event</Trans></Button>
          <More>
            <MenuEntry icon="undo" onClick={() => setAsked('replay')} disabled={!of.enabled}><Trans>Resend failed events</Trans></MenuEntry>
            <MenuEntry icon="key" onClick={() => setAsked('secret')}><Trans>New secret</Trans></MenuEntry>
            {of.enabled && <MenuEntry icon="minus" onClick={() => turn.mutate(false)}><Trans>Disable</Trans></MenuEntry>}
            <MenuLine />
            <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans>Delete</Trans></MenuEntry>
          </More>
        </div>
      </div>
      {(test.error ?? turn.error) && <Problem error={test.error ?? turn.error} />}
      {!of.enabled && (
        <Note tone={of.disabled_reason ? 'bad' : 'warn'} title={<Trans>No events are sent to this endpoint</Trans>} actions={<Button size="s" busy={turn.isPending} onClick={() => turn.mutate(true)}><Trans>Enable</Trans></Button>}>
          <Trans>New events are recorded as failed. After you enable the endpoint, you can resend events from the last 30 days.</Trans>
        </Note>
      )}
      <Deliveries of={of} scope={scope} />
      <EndpointForm open={asked === 'change'} of={of} onClose={close} onSave={async (wanted) => { await hooks.change(of.id, wanted); await reload(); close() }} />
      <Confirm
        open={asked === 'secret'} onClose={close} calm title={<Trans>Create a new secret?</Trans>} action={<Trans>Create new secret</Trans>}
        onConfirm={async () => setSecret((await hooks.newSecret(of.id)).secret)}
      >
        <p><Trans>For 24 hours, events are signed with both the old and the new secret, so you have time to update your application.</Trans></p>
      </Confirm>
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} title={<Trans>The new secret</Trans>}>
        <Trans>Add it to your application within 24 hours. After that, the old secret stops working.</Trans>
      </SecretDialog>
      <Replay of={of} scope={scope} open={asked === 'replay'} onClose={close} />
      <Confirm
        open={asked === 'remove'} onClose={close} title={<Trans>Delete this endpoint?</Trans>} action={<Trans>Delete endpoint</Trans>}
        onConfirm={async () => {
          await hooks.remove(of.id)
          await navigate({ to: scope === 'platform' ? '/platform/developers' : '/developers' })
          await reload()
        }}
      >
        <p><Trans>{host} will no longer receive events, and its delivery history will be deleted.</Trans></p>
      </Confirm>
    </>
  )
}
