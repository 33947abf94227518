import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type ReactNode } from 'react'
import { address, type Schema } from '../../../api/client'
import { ButtonLink } from '../../../ui/Button'
import { Icon } from '../../../ui/Icon'
import { Setting } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { Status, type Tone } from '../../../ui/Status'
import { Connection } from './Connection'
import { ConnectionFacts } from './ConnectionFacts'
import { ConnectionForm } from './ConnectionForm'
import { Disconnect } from './Disconnect'
import { useDomains, useMissingPlan, useSso } from './reads'
import { RequireForm } from './RequireForm'

/** The single sign-on in three steps, each open when the previous one is complete. */
export function SingleSignOn({ off }: { off: boolean }) {
  const sso = useSso()
  const domains = useDomains().data?.data ?? []
  const missing = useMissingPlan()
  const guide = address('/docs/single-sign-on')
  return (
    <>
      <Setting
        off={off} id="sso" title={<Trans>Single sign-on</Trans>}
        lead={<Trans>Connect an identity provider that supports OpenID Connect, such as Entra ID, Okta or Keycloak. <a href={guide} target="_blank" rel="noreferrer">Read the guide</a></Trans>}
      >
        <Read query={sso} lines={6}>
          {({ data }) => (missing === null
            ? <Steps sso={data} verified={domains.filter((one) => one.status === 'verified').map((one) => one.domain)} />
            : <NotInPlan plan={missing} sso={data} />)}
        </Read>
      </Setting>
      {sso.data?.data && <Setting off={off} title={<Trans>Danger zone</Trans>}><Disconnect sso={sso.data.data} /></Setting>}
    </>
  )
}

function NotInPlan({ plan, sso }: { plan: string; sso: Schema<'SSOConnection'> | null }) {
  return (
    <>
      <div className="row"><h3 className="h2"><Trans>Single sign-on</Trans></h3><span className="tag">{plan}</span></div>
      <p className="muted t13">
        <Trans>SSO is part of the {plan} plan.</Trans> {sso && <Trans>Members can still sign in with your connection, and you can disconnect it.</Trans>}
      </p>
      {sso && <ConnectionFacts sso={sso} />}
      <div><ButtonLink size="s" to="/plan"><Trans>Compare plans</Trans></ButtonLink></div>
    </>
  )
}

function Step({ number, state, title, tone, word, children }: {
  number: number; state: 'done' | 'now' | 'locked'; title: ReactNode; tone?: Tone; word: ReactNode; children?: ReactNode
}) {
  return (
    <li className={state} aria-current={state === 'now' ? 'step' : undefined}>
      <span className="mark" aria-hidden="true">{state === 'now' ? number : <Icon name={state === 'done' ? 'check' : 'lock'} />}</span>
      <div className="step-h"><h3>{title}</h3>{tone ? <Status tone={tone}>{word}</Status> : <span className="faint t13">{word}</span>}</div>
      {children && <div className="step-b">{children}</div>}
    </li>
  )
}

function Steps({ sso, verified }: { sso: Schema<'SSOConnection'> | null; verified: string[] }) {
  const { t } = useLingui()
  const [editing, setEditing] = useState(false)
  const proved = verified.length > 0
  const signedIn = sso !== null && sso.last_login_at !== null
  const open = proved || sso !== null
  const connect = signedIn && !editing ? 'done' : open ? 'now' : 'locked'
  return (
    <ol className="v-steps">
      <Step number={1} state={proved ? 'done' : 'now'} title={t`Verify a domain`} tone={proved ? 'good' : 'wait'} word={proved ? t`Done` : t`To do`}>
        <p className="muted t13 break">{proved ? verified.join(', ') : <Trans>Verify your first domain to set up SSO.</Trans>}</p>
      </Step>
      <Step
        number={2} state={connect} title={t`Connect your identity provider`}
        tone={signedIn ? 'good' : open ? 'wait' : undefined}
        word={signedIn ? t`Connected` : sso?.last_test?.result === 'ok' ? t`Sign in once` : open ? t`In progress` : t`After the first domain`}
      >
        {open && (sso === null || editing
          ? <ConnectionForm sso={sso} onClose={sso ? () => setEditing(false) : undefined} />
          : <Connection sso={sso} onEdit={() => setEditing(true)} />)}
      </Step>
      <Step
        number={3} state={!sso || !signedIn ? 'locked' : sso.required ? 'done' : 'now'} title={t`Require SSO`}
        tone={!signedIn ? undefined : sso.required ? 'good' : 'plain'} word={!signedIn ? t`After the first SSO sign-in` : sso.required ? t`Required` : t`Optional`}
      >
        {sso && signedIn && <RequireForm sso={sso} />}
      </Step>
    </ol>
  )
}
