import { Trans, useLingui } from '@lingui/react/macro'
import { useRef, useState, type ReactNode } from 'react'
import { ApiError, type Schema } from '../../api/client'
import { Button, ButtonLink } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { PasswordField, TextField } from '../../ui/Field'
import { Canceled, Form, type Values } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { signConfirmation, type Confirmation } from './api'
import { CodeField } from './CodeField'
import { isPromptClosed } from './webauthn'

interface Props {
  open: boolean
  onClose: () => void
  title: ReactNode
  /** The text of the button. */
  action: ReactNode
  danger?: boolean
  factors: Pick<Schema<'Factors'>, 'has_password' | 'totp' | 'passkeys' | 'recovery_codes'>
  /** Sends the request with the fields of the confirmation. The dialog closes afterwards. */
  onConfirm: (confirmation: Confirmation) => Promise<unknown>
  children?: ReactNode
}

/**
 * Asks for the password and the second factor of a confirmed request, in one dialog. Errors are
 * shown at their fields. If the login is too old, it offers to sign in again and to return.
 */
export function ConfirmFactors({ open, onClose, title, ...rest }: Props) {
  const [old, setOld] = useState(false)
  const close = () => {
    setOld(false)
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title={old ? <Trans>Sign in again to continue</Trans> : title}>
      {old ? <SignInAgain onClose={close} /> : open && <Body {...rest} onClose={close} onOld={() => setOld(true)} />}
    </Dialog>
  )
}

function SignInAgain({ onClose }: { onClose: () => void }) {
  return (
    <>
      <p><Trans>Confirm that it’s you. You’ll come back to this page.</Trans></p>
      <div className="acts">
        <Button onClick={onClose}><Trans>Cancel</Trans></Button>
        <ButtonLink look="primary" to="/sign-in" search={{ next: location.pathname + location.search }}><Trans>Sign in again</Trans></ButtonLink>
      </div>
    </>
  )
}

type Way = 'totp' | 'passkey' | 'recovery_code'

function Body({ onClose, onOld, action, danger, factors, onConfirm, children }: Omit<Props, 'open' | 'title'> & { onOld: () => void }) {
  const { t } = useLingui()
  const ways: Way[] = [...(factors.totp ? ['totp' as const] : []), ...(factors.passkeys.length > 0 ? ['passkey' as const] : [])]
  const [way, setWay] = useState(ways[0])
  const [prompting, setPrompting] = useState(false)
  // A request that fails does not use up the assertion, so a wrong password needs no second prompt.
  const assertion = useRef<Confirmation['assertion']>(undefined)

  async function sign() {
    setPrompting(true)
    try {
      return await signConfirmation()
    } catch (error) {
      if (isPromptClosed(error)) throw new ApiError(422, t`We couldn’t use your passkey. Try again, or use another way.`)
      throw error
    } finally {
      setPrompting(false)
    }
  }
  async function confirm(values: Values) {
    if (way === 'passkey') assertion.current ??= await sign()
    try {
      await onConfirm({
        current_password: String(values.current_password ?? '') || undefined,
        code: String(values.code ?? '').trim() || undefined,
        assertion: way === 'passkey' ? assertion.current : undefined,
      })
    } catch (error) {
      if (!(error instanceof ApiError && error.fields.current_password)) assertion.current = undefined
      if (!(error instanceof ApiError) || error.code !== 'RECENT_LOGIN_REQUIRED') throw error
      onOld()
      throw new Canceled()
    }
    onClose()
  }
  const others = [...ways, ...(way && factors.recovery_codes ? ['recovery_code' as const] : [])].filter((one) => one !== way)
  const names: Record<Way, string> = { totp: t`Use a code`, passkey: t`Use a passkey`, recovery_code: t`Use a recovery code` }
  const links = others.length > 0 && (
    <span className="row">{others.map((one) => <button key={one} type="button" className="as-link" onClick={() => setWay(one)}>{names[one]}</button>)}</span>
  )
  return (
    <Form onSubmit={confirm} className="stack">
      {({ busy }) => (
        <>
          {children && <div className="muted">{children}</div>}
          {factors.has_password && <PasswordField name="current_password" label={t`Current password`} autoComplete="current-password" autoFocus data-autofocus />}
          {way === 'totp' && <CodeField label={t`Code from your authenticator app`} help={links} autoFocus={!factors.has_password} />}
          {way === 'recovery_code' && <RecoveryField help={links} />}
          {way === 'passkey' && (
            <div className="touch" role="status">
              <Icon name="passkey" />
              <span>{prompting ? <Trans>Follow the prompt in your browser.</Trans> : <Trans>Your browser asks for your passkey when you continue.</Trans>}</span>
              {links}
            </div>
          )}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look={danger ? 'danger solid' : 'primary'} busy={busy}>{action}</Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** A field for a recovery code, in any case and with or without the hyphen. */
export function RecoveryField({ name = 'code', help, autoFocus }: { name?: string; help?: ReactNode; autoFocus?: boolean }) {
  const { t } = useLingui()
  return (
    <TextField
      name={name} label={t`Recovery code`} help={help} placeholder="XXXXX-XXXXX" maxLength={13} className="code"
      autoComplete="off" autoCapitalize="characters" spellCheck={false} autoFocus={autoFocus}
    />
  )
}
