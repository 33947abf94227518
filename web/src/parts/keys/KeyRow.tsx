import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { now } from '../../app/clock'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Status } from '../../ui/Status'
import { Day, When } from '../../ui/When'
import type { Scope } from '../scope'
import { EndKey, RenameKey, RotateKey } from './KeyDialogs'
import { scopeWords, useHindrance } from './scopes'

type Asked = 'rename' | 'rotate' | 'end' | undefined

/** When a key expires or has ended. */
function Ends({ of }: { of: Schema<'APIKey'> }) {
  const at = now()
  if (of.revoked_at && new Date(of.revoked_at).getTime() <= at) return <Status tone="off"><Trans>Revoked <When at={of.revoked_at} /></Trans></Status>
  if (of.expires_at && new Date(of.expires_at).getTime() <= at) return <Status tone="off"><Trans>Expired <When at={of.expires_at} /></Trans></Status>
  const until = of.revoked_at ?? of.expires_at
  if (!until) return <Status tone="good"><Trans>Does not expire</Trans></Status>
  const soon = new Date(until).getTime() - at < 14 * 86_400_000
  return <Status tone={soon ? 'warn' : 'good'}><Day at={until} /></Status>
}

export function KeyRow({ of, scope, onMade }: { of: Schema<'APIKey'>; scope: Scope; onMade: (key: Schema<'NewAPIKey'>) => void }) {
  const { t, i18n } = useLingui()
  const [asked, setAsked] = useState<Asked>()
  const over = [of.revoked_at, of.expires_at].some((at) => at !== null && new Date(at).getTime() <= now())
  const hindrance = useHindrance(scope)
  // A replacement has the same scopes, so it requires the same permissions as a new key.
  const replaceable = !of.scopes.some((one) => hindrance(one))
  const maker = of.created_by?.name
  return (
    <tr className={over ? 'is-over' : undefined}>
      <td className="k1">
        <b>{of.name}</b>
        <small><code>{of.prefix}…</code>{maker && <> <Trans>by {maker}</Trans></>}</small>
      </td>
      <td className="k2" data-l={t`Permissions`}>{of.scopes.map((one) => <span key={one} className="word" title={one}>{scopeWords[one] ? i18n._(scopeWords[one]) : one}</span>)}</td>
      <td className="k3" data-l={t`Last used`}>{of.last_used_at ? <When at={of.last_used_at} /> : <span className="faint"><Trans>Never</Trans></span>}</td>
      <td className="k4" data-l={t`Expires`}><Ends of={of} /></td>
      <td className="acts-cell">
        {!over && (
          <More small>
            <MenuEntry icon="pencil" onClick={() => setAsked('rename')}><Trans>Rename</Trans></MenuEntry>
            {!of.revoked_at && replaceable && <MenuEntry icon="swap" onClick={() => setAsked('rotate')}><Trans>Replace key</Trans></MenuEntry>}
            <MenuLine />
            <MenuEntry icon="x" danger onClick={() => setAsked('end')}><Trans>Revoke now</Trans></MenuEntry>
          </More>
        )}
        <RenameKey of={of} scope={scope} open={asked === 'rename'} onClose={() => setAsked(undefined)} />
        <RotateKey of={of} scope={scope} open={asked === 'rotate'} onClose={() => setAsked(undefined)} onMade={onMade} />
        <EndKey of={of} scope={scope} open={asked === 'end'} onClose={() => setAsked(undefined)} />
      </td>
    </tr>
  )
}
