import { Trans, useLingui } from '@lingui/react/macro'
import { useContext, useState, type ReactNode } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { FieldErrors, SelectField, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Icon } from '../../../ui/Icon'
import { Problem, Skeleton } from '../../../ui/Messages'
import { dayOf, endOfDay, isCounted, limitWord, seatsFeature, today, useLimited, type Limited } from './limits'
import { fieldError, useSaved } from './useSaved'

interface Props {
  tenant: Schema<'AdminTenant'>
  /** The selected feature; undefined selects the first one. */
  feature?: string
  open: boolean
  onClose: () => void
}

/** Overrides the limit of a feature for one tenant, or removes the override. */
export function ChangeLimit(props: Props) {
  const { open, onClose, tenant, feature } = props
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Change limit</Trans>}>
      <Loaded key={`${tenant.id} ${feature}`} {...props} />
    </Dialog>
  )
}

function Loaded({ tenant, feature, onClose }: Props) {
  const { limits, quotas, counted, others, missing } = useLimited(tenant.id)
  const [code, setCode] = useState(feature)
  const failed = [limits, quotas].find((one) => one.isError && one.data === undefined)
  if (failed) return <Problem error={failed.error} onRetry={() => void failed.refetch()} retrying={failed.isFetching} />
  if (limits.isPending || quotas.isPending) return <Skeleton lines={5} now />
  const known = [...counted, ...others]
  const all = [...known, ...missing]
  const chosen = all.find((one) => one.code === code) ?? all[0]
  if (!chosen) return <p className="flat"><Trans>Add a feature to the catalog first.</Trans></p>
  return <Body key={chosen.code} of={chosen} known={known} missing={missing} onChoose={setCode} tenant={tenant} onClose={onClose} />
}

/** The kinds of a limit: a number, unlimited or included, not included, and the plan's. */
type Kind = 'quota' | 'unlimited' | 'none' | 'plan'

function kindOf({ limit }: Limited): Kind {
  const override = limit?.override
  if (!override) return 'quota'
  if (override.type === 'none') return 'none'
  return override.type === 'quota' && override.value !== null ? 'quota' : 'unlimited'
}

function Pick({ kind, at, onChange, small, end, children }: { kind: Kind; at: Kind; onChange: (to: Kind) => void; small?: ReactNode; end?: ReactNode; children: ReactNode }) {
  return (
    <label className="check">
      <input type="radio" name="kind" value={kind} checked={kind === at} onChange={() => onChange(kind)} />
      <span>{children}{small && <small>{small}</small>}</span>
      {end && <span className="end">{end}</span>}
    </label>
  )
}

function ValueError() {
  const message = useContext(FieldErrors).value?.[0]
  return message ? <p className="error" id="limit-error"><Icon name="alert" />{message}</p> : null
}

function Body({ of, known, missing, onChoose, tenant, onClose }: {
  of: Limited; known: Limited[]; missing: Limited[]; onChoose: (code: string) => void; tenant: Schema<'AdminTenant'>; onClose: () => void
}) {
  const { t } = useLingui()
  const format = useFormat()
  const saved = useSaved(onClose)
  const countable = isCounted(of)
  const override = of.limit?.override ?? null
  const [kind, setKind] = useState<Kind>(countable || override ? kindOf(of) : 'unlimited')
  const start = override?.type === 'quota' ? override.value : of.limit?.plan?.value ?? null
  const [value, setValue] = useState(start === null ? '' : format.number(start))
  const [until, setUntil] = useState(override?.expires_at ? dayOf(override.expires_at) : '')
  const planned = limitWord(of.limit?.plan, of.unit, countable, format)
  const wanted = format.parse(value)
  const path = { path: { tenant: tenant.id, featureCode: of.code } }

  async function save(reason: string) {
    if (kind === 'plan') {
      await api.DELETE('/api/v1/admin/tenants/{tenant}/limits/{featureCode}', { params: path })
      return saved(<Trans>The override of {of.name} was removed.</Trans>)
    }
    if (kind === 'quota' && wanted === undefined) throw fieldError('value', t`Enter a whole number, such as 5,000.`)
    await api.PUT('/api/v1/admin/tenants/{tenant}/limits/{featureCode}', {
      params: path,
      body: {
        type: kind === 'none' ? 'none' : kind === 'unlimited' && !countable ? 'boolean' : 'quota', value: kind === 'quota' ? wanted : null,
        expires_at: until ? endOfDay(until) : null, reason: reason.trim(),
      },
    })
    return saved(<Trans>The limit of {of.name} was changed.</Trans>)
  }
  const amount = wanted === undefined ? '' : format.quantity(wanted, of.unit)
  const next = kind === 'quota' ? amount : kind === 'none' ? t`not included` : countable ? t`unlimited` : t`included`
  const day = until && format.dayWithYear(until)
  return (
    <Form className="stack" onSubmit={(values) => save(String(values.reason ?? ''))}>
      {({ busy }) => (
        <>
          <p className="flat"><Trans>An override applies to this tenant only and stays when the plan changes.</Trans></p>
          <SelectField name="feature" label={t`Feature`} value={of.code} onChange={(event) => onChoose(event.target.value)}>
            {known.map((one) => <option key={one.code} value={one.code}>{one.name}</option>)}
            {missing.length > 0 && <optgroup label={t`Not in the plan`}>{missing.map((one) => <option key={one.code} value={one.code}>{one.name}</option>)}</optgroup>}
          </SelectField>
          <fieldset>
            <legend className="label"><Trans>Limit</Trans></legend>
            <div className="pick">
              <Pick
                kind="quota" at={kind} onChange={setKind}
                end={<input
                  className="input" name="value" data-autofocus={of.quota ? true : undefined} inputMode="numeric" aria-label={t`Limit of ${of.name}`} aria-describedby="limit-error" autoComplete="off" value={value}
                  onFocus={() => setKind('quota')} onChange={(event) => { setKind('quota'); setValue(event.target.value) }}
                />}
              >
                <Trans>Limited to</Trans>
              </Pick>
              <Pick kind="unlimited" at={kind} onChange={setKind}>{countable ? <Trans>Unlimited</Trans> : <Trans>Included</Trans>}</Pick>
              <Pick kind="none" at={kind} onChange={setKind} small={of.quota ? <Trans>The limit is 0.</Trans> : undefined}><Trans>Not included</Trans></Pick>
              {override && <Pick kind="plan" at={kind} onChange={setKind} small={<Trans>Removes the override.</Trans>}>{of.limit?.plan ? (countable ? <Trans>Use the plan’s limit, {planned}</Trans> : <Trans>As in the plan: {planned}</Trans>) : <Trans>As in the plan, without a limit of its own</Trans>}</Pick>}
            </div>
            <ValueError />
          </fieldset>
          {kind !== 'plan' && (
            <>
              <TextField name="expires_at" type="date" label={t`Last day`} hint={t`optional`} min={today()} value={until} onChange={(event) => setUntil(event.target.value)} />
              <TextField name="reason" label={t`Reason`} maxLength={500} defaultValue={override?.reason} autoComplete="off" help={t`Recorded in the activity of the tenant.`} />
            </>
          )}
          {kind === 'plan'
            ? <p className="outcome">{of.limit?.plan && countable ? <Trans>The plan’s limit of {planned} applies again immediately.</Trans> : <Trans>The plan applies again immediately.</Trans>}</p>
            : (kind !== 'quota' || wanted !== undefined) && (
              <p className="outcome" role="status">
                <b>{day ? <Trans>{of.name}: {next} until {day}.</Trans> : <Trans>{of.name}: {next}.</Trans>}</b>{' '}
                {day && (of.limit?.plan && countable ? <Trans>After that, the plan’s limit of {planned} applies again.</Trans> : <Trans>After that, the plan applies again.</Trans>)}{' '}
                {kind === 'quota' && of.quota && <Trans>Alerts at 80% and 100% are sent for the new limit.</Trans>}
                {of.code === seatsFeature && kind !== 'unlimited' && <Trans>Members and invitations above the limit stay.</Trans>}
              </p>
            )}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look={kind === 'none' ? 'danger solid' : 'primary'} busy={busy}>
              {kind === 'plan' ? <Trans>Remove override</Trans> : kind === 'none' ? <Trans>Remove feature</Trans> : kind === 'unlimited' ? (countable ? <Trans>Remove limit</Trans> : <Trans>Add feature</Trans>) : amount ? <Trans>Set limit to {amount}</Trans> : <Trans>Set limit</Trans>}
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
