import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMe } from '../../../app/session'
import { enrollTotp } from '../../../parts/factors/api'
import { Authenticator } from '../../../parts/factors/Authenticator'
import { ConfirmFactors } from '../../../parts/factors/ConfirmFactors'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Icon } from '../../../ui/Icon'
import { Note } from '../../../ui/Messages'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { Day, When } from '../../../ui/When'
import { AddPasskey } from './AddPasskey'
import { CodesDialog } from './CodesDialog'
import { RemoveFactor } from './RemoveFactor'
import { remaining } from './remaining'
import { useReadAgain } from '../useProfile'

const allCodes = 10

/** Below this number the service sends an email, too. */
const fewCodes = 3

/** The authenticator app and the recovery codes; without a factor, also the offer of a passkey. */
export function Factors({ factors, requiring }: { factors: Schema<'Factors'>; requiring?: Schema<'Tenant'> }) {
  const { t } = useLingui()
  const format = useFormat()
  const { user } = useMe()
  const readAgain = useReadAgain()
  const [open, setOpen] = useState<'enroll' | 'remove' | 'codes' | 'passkey'>()
  const [enrollment, setEnrollment] = useState<Schema<'TOTPEnrollment'>>()
  const [codes, setCodes] = useState<string[] | null>(null)
  const close = () => setOpen(undefined)
  const { totp, mfa_enabled: enabled } = factors
  const left = factors.recovery_codes?.remaining ?? 0
  const organization = requiring?.name
  const from = requiring?.require_mfa_from && format.dayWithYear(requiring.require_mfa_from)

  async function remove(body: Parameters<typeof enrollTotp>[0]) {
    await api.DELETE('/api/v1/user/factors/totp', { body: { ...body } })
    await readAgain()
    toast(t`The authenticator app was removed`)
  }
  async function renew(body: Parameters<typeof enrollTotp>[0]) {
    const { data } = await api.POST('/api/v1/user/recovery-codes', { body: { ...body } })
    await readAgain()
    setCodes(data!.data.recovery_codes)
  }
  async function enrolled(first: string[] | null) {
    setEnrollment(undefined)
    setCodes(first)
    await readAgain()
    toast(t`The authenticator app is on`)
  }
  return (
    <>
      {!enabled && organization && (
        <Note tone="warn" title={<Trans>Add a second factor by {from}</Trans>}><Trans>{organization} requires one. Without it, you lose access on that day.</Trans></Note>
      )}
      <ul className="items marks">
        <li className={totp ? undefined : 'below'}>
          <Icon name="phone" />
          <div className="what">
            <div className="nm"><b><Trans>Authenticator app</Trans></b>{totp && <Status tone="good"><Trans>On</Trans></Status>}</div>
            <p>
              {totp
                ? <><Trans>Added <Day at={totp.created_at} /></Trans>{totp.last_used_at && <> · <Trans>Last used <When at={totp.last_used_at} /></Trans></>}</>
                : <Trans>Enter a code from an app such as 1Password or Google Authenticator.</Trans>}
            </p>
          </div>
          <div className="do">
            {totp
              ? <Button size="s" look="danger" onClick={() => setOpen('remove')} aria-label={t`Remove authenticator app`}><Trans context="a factor">Remove</Trans></Button>
              : <Button size="s" look={enabled ? 'plain' : 'primary'} disabled={!user.email_verified} onClick={() => setOpen('enroll')}><Trans>Set up</Trans></Button>}
          </div>
        </li>
        {!enabled && (
          <li className="below">
            <Icon name="passkey" />
            <div className="what"><div className="nm"><b><Trans>Passkey</Trans></b></div><p><Trans>Use your fingerprint, face, screen lock or a security key.</Trans></p></div>
            <div className="do"><Button size="s" disabled={!user.email_verified} onClick={() => setOpen('passkey')} aria-label={t`Add a passkey`}><Trans context="a factor">Add</Trans></Button></div>
          </li>
        )}
        {factors.recovery_codes && (
          <li className="below">
            <Icon name="lifebuoy" />
            <div className="what">
              <div className="nm"><b><Trans>Recovery codes</Trans></b>{left < fewCodes && <Status tone="warn"><Trans>Running low</Trans></Status>}</div>
              <p>
                <span className="left" aria-hidden="true">{Array.from({ length: allCodes }, (_, i) => <i key={i} className={i < left ? undefined : 'gone'} />)}</span>
                <Trans>{left} of {allCodes} left</Trans>
              </p>
              <small><Trans>Each code works once, if you can’t use your other factors.</Trans></small>
            </div>
            <div className="do"><Button size="s" onClick={() => setOpen('codes')}><Trans>Generate new codes</Trans></Button></div>
          </li>
        )}
      </ul>
      <ConfirmFactors
        open={open === 'enroll'} onClose={close} factors={factors} title={<Trans>Set up an authenticator app</Trans>} action={<Trans>Continue</Trans>}
        onConfirm={async (confirmation) => setEnrollment(await enrollTotp(confirmation))}
      >
        <p><Trans>First confirm that it’s you.</Trans></p>
      </ConfirmFactors>
      <Dialog wide open={enrollment !== undefined} onClose={() => setEnrollment(undefined)} title={<Trans>Set up an authenticator app</Trans>}>
        {enrollment && <Authenticator enrollment={enrollment} onDone={(first) => void enrolled(first)} back={<Button onClick={() => setEnrollment(undefined)}><Trans>Cancel</Trans></Button>} />}
      </Dialog>
      <RemoveFactor
        open={open === 'remove'} onClose={close} factors={factors} requiring={organization} onConfirm={remove}
        title={<Trans>Remove authenticator app?</Trans>} action={<Trans>Remove authenticator</Trans>}
      >
        <p>{remaining(factors.passkeys.length)}</p>
      </RemoveFactor>
      <ConfirmFactors open={open === 'codes'} onClose={close} factors={factors} title={<Trans>Generate new recovery codes?</Trans>} action={<Trans>Generate codes</Trans>} onConfirm={renew}>
        <p><Trans>Your remaining codes ({left}) stop working right away.</Trans></p>
      </ConfirmFactors>
      <AddPasskey open={open === 'passkey'} onClose={close} factors={factors} onCodes={setCodes} />
      <CodesDialog codes={codes} onClose={() => setCodes(null)} />
    </>
  )
}
