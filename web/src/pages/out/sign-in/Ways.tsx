import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Factor } from '../../../app/logins'
import { useSettings } from '../../../app/session'
import { supportsPasskeys } from '../../../parts/factors/webauthn'
import { Icon, type IconName } from '../../../ui/Icon'

/** A way to confirm a login, or to set up a factor. */
export function Way({ icon, title, onChoose, children, autoFocus }: { icon: IconName; title: ReactNode; onChoose: () => void; children: ReactNode; autoFocus?: boolean }) {
  return (
    <li>
      <button type="button" onClick={onChoose} autoFocus={autoFocus}>
        <Icon name={icon} /><span><b>{title}</b><span>{children}</span></span><Icon name="right" />
      </button>
    </li>
  )
}

/** The factors that can complete a login, passkeys first. */
export function Ways({ Heading, factors, onChoose }: { Heading: 'h1' | 'h3'; factors: Factor[]; onChoose: (factor: Factor) => void }) {
  const { support_email } = useSettings()
  const passkey = factors.includes('passkey') && supportsPasskeys()
  return (
    <>
      <Heading><Trans>Choose another way</Trans></Heading>
      <ul className="ways">
        {passkey && <Way icon="passkey" title={<Trans>Passkey</Trans>} onChoose={() => onChoose('passkey')} autoFocus><Trans>Fingerprint, face, screen lock or security key</Trans></Way>}
        {factors.includes('totp') && <Way icon="phone" title={<Trans>Authenticator app</Trans>} onChoose={() => onChoose('totp')} autoFocus={!passkey}><Trans>A 6-digit code</Trans></Way>}
        {factors.includes('recovery_code') && <Way icon="lifebuoy" title={<Trans>Recovery code</Trans>} onChoose={() => onChoose('recovery_code')}><Trans>One of the ten codes you saved</Trans></Way>}
      </ul>
      <p className="help gap-top">
        {support_email
          ? <Trans>Can’t use any of these? <a href={`mailto:${support_email}`}>Contact support</a> to reset your second factors.</Trans>
          : <Trans>Can’t use any of these? Contact support to reset your second factors.</Trans>}
      </p>
    </>
  )
}
