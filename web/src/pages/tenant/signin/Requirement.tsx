import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { useTenant } from '../../../app/session'
import { factorsQuery } from '../../../parts/factors/api'
import { Button, ButtonLink } from '../../../ui/Button'
import { FieldError, Switch, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { useSave } from '../settings/useSave'
import { useMembers } from '../shared/reads'
import { NoFactor } from './NoFactor'

const dayLength = 86_400_000
const furthest = 90

/** Returns the day in UTC that is the given number of days ahead. */
const dayAhead = (days: number) => new Date(now() + days * dayLength).toISOString().slice(0, 10)

/** Whether members need a second factor, from which day, and the members who lose access. */
export function Requirement() {
  const tenant = useTenant()
  // After a save, the form starts again with the current values.
  return <RequirementForm key={tenant.require_mfa_from} />
}

function RequirementForm() {
  const { t } = useLingui()
  const format = useFormat()
  const tenant = useTenant()
  const save = useSave()
  const own = useQuery(factorsQuery).data
  const members = useMembers().data?.data ?? []
  const [required, setRequired] = useState(tenant.require_mfa)
  const [from, setFrom] = useState(tenant.require_mfa_from ?? dayAhead(30))
  const today = dayAhead(0)
  const days = Math.round((Date.parse(from) - Date.parse(today)) / dayLength)
  const lacking = own?.mfa_enabled === false && !tenant.require_mfa
  const without = members.filter((one) => one.mfa_enabled === false).length
  const changed = required !== tenant.require_mfa || (required && from !== tenant.require_mfa_from)
  const atOnce = changed && required && days <= 0

  async function send(values: Values) {
    await save(required ? { require_mfa: true, require_mfa_from: String(values.require_mfa_from) } : { require_mfa: false })
  }
  return (
    <>
      <Form className="stack" guard onSubmit={send}>
        {({ busy }) => (
          <>
            <Switch
              name="require_mfa" checked={required} disabled={lacking} onChange={(event) => setRequired(event.target.checked)}
              small={<Trans>An authenticator app or a passkey, for all members.</Trans>}
            >
              <Trans>Require a second factor</Trans>
            </Switch>
            <FieldError name="require_mfa" />
            {lacking && (
              <Note title={<Trans>Set up your own second factor first</Trans>} actions={<ButtonLink size="s" to="/profile/security"><Trans>Set up</Trans></ButtonLink>}>
                <Trans>You would lose access yourself.</Trans>
              </Note>
            )}
            {required && (
              <div className="w220">
                <TextField
                  name="require_mfa_from" type="date" label={t`Required from`} min={today} max={dayAhead(furthest)} value={from} onChange={(event) => setFrom(event.target.value)}
                  help={Number.isNaN(days) ? undefined : days > 0
                    ? <><Plural value={days} one="# day from now." other="# days from now." /> <Trans>At most {furthest} days.</Trans></>
                    : atOnce && without > 0 ? <Plural value={without} one="# member loses access now." other="# members lose access now." /> : <Trans>Required now.</Trans>}
                />
              </div>
            )}
            {!lacking && (
              <div className="acts">
                <Button type="submit" busy={busy} disabled={!changed} look={atOnce && without > 0 ? 'danger' : 'plain'}>{atOnce ? <Trans>Require now</Trans> : <Trans>Save requirement</Trans>}</Button>
              </div>
            )}
          </>
        )}
      </Form>
      <NoFactor members={members} from={required && from ? format.dayWithYear(from) : null} past={tenant.require_mfa && days <= 0 && !changed} />
    </>
  )
}
