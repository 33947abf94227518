import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { ApiError, type Schema } from '../../api/client'
import { takePassword } from '../../app/logins'
import { useMe, useSettings, useSignOut } from '../../app/session'
import { createPasskey, enrollTotp, factorsQuery, savePasskey, type Confirmation } from '../../parts/factors/api'
import { Authenticator } from '../../parts/factors/Authenticator'
import { RecoveryCodes } from '../../parts/factors/RecoveryCodes'
import { isPromptClosed, supportsPasskeys } from '../../parts/factors/webauthn'
import { Out } from '../../shell/Out'
import { Button, ButtonLink } from '../../ui/Button'
import { PasswordField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { Note, Problem, Skeleton } from '../../ui/Messages'
import { useDevice } from '../../parts/device'
import { Way } from './sign-in/Ways'

type Kind = 'passkey' | 'totp'

/** Sets up the factor that the organization, or the platform for its admins, requires. */
export default function Enrollment({ onDone }: { onDone: () => void }) {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const { user, currentTenant } = useMe()
  const signOut = useSignOut()
  const [kind, setKind] = useState<Kind>()
  const [codes, setCodes] = useState<string[]>()
  const requirer = location.pathname.includes('/platform') || !currentTenant ? app_name : currentTenant.name
  const names = [t`Choose a factor`, t`Set it up`, t`Save recovery codes`]
  const at = codes ? 2 : kind ? 1 : 0
  const added = (recoveryCodes: string[] | null | undefined) => (recoveryCodes ? setCodes(recoveryCodes) : onDone())
  return (
    <Out title={t`Two-factor authentication`} wide end={<>{user.email} · <button type="button" className="as-link" onClick={() => void signOut()}><Trans>Sign out</Trans></button></>}>
      <div className="enrol">
        <ol className="steps">
          {names.map((name, i) => (
            <li key={name} className={i < at ? 'done' : undefined} aria-current={i === at ? 'step' : undefined}>
              <i>{i < at ? <Icon name="check" /> : i + 1}</i><span>{name}</span>
            </li>
          ))}
        </ol>
        {codes
          ? (
            <>
              <Head title={t`Save your recovery codes`}><Trans>If you lose your device, each of these codes signs you in once. We won’t show them again.</Trans></Head>
              <RecoveryCodes codes={codes} onDone={onDone} done={<Trans>Continue to {requirer}</Trans>} />
            </>
          )
          : kind
            ? <SetUp kind={kind} onBack={() => setKind(undefined)} onAdded={added} />
            : (
              <>
                <Head title={t`Set up two-factor authentication`}><Trans>{requirer} requires a second factor. You need it to continue.</Trans></Head>
                <ul className="ways">
                  {supportsPasskeys() && <Way icon="passkey" title={<Trans>Passkey</Trans>} onChoose={() => setKind('passkey')} autoFocus><Trans>Recommended. Fingerprint, face, screen lock or security key</Trans></Way>}
                  <Way icon="phone" title={<Trans>Authenticator app</Trans>} onChoose={() => setKind('totp')}><Trans>Codes from an app such as 1Password or Google Authenticator</Trans></Way>
                </ul>
                {!supportsPasskeys() && <p className="help"><Trans>This browser doesn’t support passkeys. Use an authenticator app.</Trans></p>}
                <p className="t13"><button type="button" className="as-link" onClick={() => void signOut()}><Trans>Sign out</Trans></button></p>
              </>
            )}
      </div>
    </Out>
  )
}

function Head({ title, children }: { title: string; children?: ReactNode }) {
  return <div><h1 className="tight">{title}</h1>{children && <p className="muted">{children}</p>}</div>
}

/**
 * Confirms the password and sets up a factor. The password of the login that led here is used once.
 */
function SetUp({ kind, onBack, onAdded }: { kind: Kind; onBack: () => void; onAdded: (codes: string[] | null | undefined) => void }) {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const device = useDevice()
  const factors = useQuery(factorsQuery)
  const [enrollment, setEnrollment] = useState<Schema<'TOTPEnrollment'>>()
  const [asks, setAsks] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const began = useRef(false)

  async function begin(confirmation: Confirmation) {
    if (kind === 'totp') return setEnrollment(await enrollTotp(confirmation))
    const name = device(navigator.userAgent)
    onAdded((await savePasskey(await createPasskey(confirmation), name)).recovery_codes)
  }
  async function confirm(values: Values) {
    await begin({ current_password: String(values.current_password) }).catch((error: unknown) => {
      if (!isPromptClosed(error)) throw error
      throw new ApiError(422, t`The prompt was closed or timed out. Try again or choose another way.`)
    })
  }
  const start = (password?: string) => begin({ current_password: password }).catch((error: unknown) => {
    if (error instanceof ApiError && error.fields.current_password) setAsks(true)
    else setProblem(error)
  })
  const hasPassword = factors.data?.has_password
  useEffect(() => {
    if (hasPassword === undefined || began.current) return
    began.current = true
    const password = hasPassword ? takePassword() : undefined
    if (hasPassword && !password) setAsks(true)
    else void start(password)
  })
  const back = <Button look="quiet" onClick={onBack}><Trans>Back</Trans></Button>

  if (enrollment) {
    return (
      <>
        <Head title={t`Set up your authenticator app`} />
        <Authenticator enrollment={enrollment} onDone={onAdded} back={back} />
      </>
    )
  }
  if (asks) {
    return (
      <>
        <Head title={t`Confirm your password`}><Trans>Before you add a factor, enter your {app_name} password.</Trans></Head>
        <Form onSubmit={confirm} className="stack">
          {({ busy }) => (
            <>
              <PasswordField name="current_password" label={t`Current password`} autoComplete="current-password" autoFocus />
              <div className="acts"><Button type="submit" look="primary" busy={busy}><Trans>Continue</Trans></Button>{back}</div>
            </>
          )}
        </Form>
      </>
    )
  }
  if (problem !== undefined || factors.error) {
    return (
      <>
        <Stopped error={problem ?? factors.error} />
        <div className="acts">
          {isPromptClosed(problem) && <Button look="primary" icon="passkey" onClick={() => { setProblem(undefined); void start() }}><Trans>Try the passkey again</Trans></Button>}
          {back}
        </div>
      </>
    )
  }
  return kind === 'passkey' && factors.data
    ? <div className="touch" role="status"><Icon name="passkey" /><span><Trans>Follow the prompt in your browser.</Trans></span></div>
    : <Skeleton lines={5} />
}

/** Why the set-up cannot continue, with the next step. */
function Stopped({ error }: { error: unknown }) {
  if (isPromptClosed(error)) {
    return <Note role="alert" title={<Trans>We couldn’t use your passkey</Trans>}><Trans>The prompt was closed or timed out. Try again or choose another way.</Trans></Note>
  }
  const code = error instanceof ApiError ? error.code : undefined
  if (code === 'TOTP_ALREADY_ENABLED') return <Note role="alert"><Trans>Your authenticator app is already set up.</Trans></Note>
  if (code === 'RECENT_LOGIN_REQUIRED') {
    return (
      <Note
        role="alert" title={<Trans>Sign in again to continue</Trans>}
        actions={<ButtonLink size="s" to="/sign-in" search={{ next: location.pathname + location.search }}><Trans>Sign in again</Trans></ButtonLink>}
      >
        <Trans>Confirm that it’s you. You’ll come back to this page.</Trans>
      </Note>
    )
  }
  return <Problem error={error} />
}
