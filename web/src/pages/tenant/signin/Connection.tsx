import { Trans } from '@lingui/react/macro'
import { address, type Schema } from '../../../api/client'
import { useMe } from '../../../app/session'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { CopyButton } from '../../../ui/Copy'
import { Note, Problem } from '../../../ui/Messages'
import { ConnectionFacts } from './ConnectionFacts'
import { isIn } from './reads'
import { useTest } from './useTest'
import { useReason } from './words'

/** A saved connection: its facts, its test, and the first sign-in that completes it. */
export function Connection({ sso, onEdit }: { sso: Schema<'SSOConnection'>; onEdit: () => void }) {
  const { user } = useMe()
  const reason = useReason()
  const test = useTest()
  const result = test.result ?? sso.last_test?.result
  const first = sso.last_login_at === null
  const able = isIn(sso.domains, user.email)
  const domains = sso.domains.join(', ')
  const ready = first && result === 'ok'
  return (
    <>
      <ConnectionFacts sso={sso} />
      {result === 'ok' && (first || test.result) && (
        <Note icon="check" role="status" title={<Trans>The test succeeded</Trans>}>
          {first && (able ? <Trans>Now sign in with SSO once to finish this step.</Trans> : <Trans>Now ask a member with a {domains} address to sign in with SSO once.</Trans>)}
        </Note>
      )}
      {result && result !== 'ok' && <Note tone="bad" title={<Trans>The test failed</Trans>}>{reason(result)}</Note>}
      {sso.last_error && <Note tone="bad" title={<Trans>The last SSO sign-in failed</Trans>}>{reason(sso.last_error)}</Note>}
      {test.error && <Problem error={test.error} />}
      <div className="acts">
        {ready && able && <ButtonAnchor look="primary" href={address(`/api/v1/auth/sso/${sso.id}/redirect`)}><Trans>Sign in with SSO</Trans></ButtonAnchor>}
        {ready && !able && <CopyButton text={address('/sign-in')}><Trans>Copy sign-in link</Trans></CopyButton>}
        <Button size={first ? 'm' : 's'} look={first && !ready ? 'primary' : 'plain'} busy={test.busy} onClick={test.start}>{first && result ? <Trans>Test again</Trans> : <Trans>Test sign-in</Trans>}</Button>
        <Button size={first ? 'm' : 's'} onClick={onEdit}><Trans>Edit connection</Trans></Button>
      </div>
    </>
  )
}
