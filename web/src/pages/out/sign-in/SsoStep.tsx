import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from '../../../ui/Button'
import { keepBack } from '../Providers'
import { As } from './PasswordStep'

/** Leads to the sign-in page of the user's organization. */
export function SsoStep({ email, url, next, onChange, onOther }: { email: string; url: string; next: string; onChange: () => void; onOther: () => void }) {
  const [leaving, setLeaving] = useState(false)
  const domain = email.split('@').pop()
  function leave() {
    setLeaving(true)
    keepBack(next)
    location.assign(url)
  }
  return (
    <>
      <h1><Trans>Your organization signs in with SSO</Trans></h1>
      <form onSubmit={(event) => { event.preventDefault(); leave() }}>
        <As email={email} onChange={onChange} />
        <p className="t13 muted"><Trans>You’ll go to the sign-in page of {domain} and come back here.</Trans></p>
        <Button type="submit" look="primary" size="big" block busy={leaving} autoFocus><Trans>Continue with SSO</Trans></Button>
        <p className="alt"><button type="button" className="as-link" onClick={onOther}><Trans>Sign in another way</Trans></button></p>
      </form>
    </>
  )
}
