import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Problem, Skeleton } from '../../../ui/Messages'
import { endOfDay, today, useLimited, type Limited } from './limits'
import { fieldError, useSaved } from './useSaved'

interface Props {
  tenant: Schema<'AdminTenant'>
  /** The selected meter; undefined selects the first one. */
  feature?: string
  open: boolean
  onClose: () => void
}

/** Grants free units of a meter, which are used once the limit is reached. */
export function GrantUnits(props: Props) {
  const { open, onClose, tenant, feature } = props
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Grant units</Trans>}>
      <Loaded key={`${tenant.id} ${feature}`} {...props} />
    </Dialog>
  )
}

function Loaded({ tenant, feature, onClose }: Props) {
  const { quotas, counted } = useLimited(tenant.id)
  if (quotas.isError && !quotas.data) return <Problem error={quotas.error} onRetry={() => void quotas.refetch()} retrying={quotas.isFetching} />
  if (quotas.isPending) return <Skeleton lines={5} now />
  const meters = counted.filter((one) => one.grantable)
  if (meters.length === 0) return <p className="flat"><Trans>Units can be granted for meters that add up or count usage. Add one first.</Trans></p>
  return <Body tenant={tenant} feature={feature} meters={meters} onClose={onClose} />
}

function Body({ tenant, feature, meters, onClose }: { tenant: Schema<'AdminTenant'>; feature?: string; meters: Limited[]; onClose: () => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const saved = useSaved(onClose)
  const [code, setCode] = useState(meters.find((one) => one.code === feature)?.code ?? meters[0]!.code)
  const [units, setUnits] = useState('')
  const [starts, setStarts] = useState(today())
  const [ends, setEnds] = useState('')
  const meter = meters.find((one) => one.code === code)!
  const amount = format.parse(units, 6)
  const valid = amount !== undefined && amount > 0
  const later = starts > today()
  const [given, before, after] = [format.quantity(amount ?? 0, meter.unit), format.quantity(meter.quota!.grants_remaining, meter.unit), format.quantity(meter.quota!.grants_remaining + (amount ?? 0), meter.unit)]
  const limit = meter.quota!.quota_limit === null ? '' : format.quantity(meter.quota!.quota_limit, meter.unit)
  const day = format.dayWithYear(starts || today())
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        if (!valid) throw fieldError('amount', t`Enter a number above 0 with at most six decimals.`)
        const priority = format.parse(String(values.priority))
        if (priority === undefined || priority > 100) throw fieldError('priority', t`Enter a number from 0 to 100.`)
        await api.POST('/api/v1/admin/tenants/{tenant}/grants', {
          params: { path: { tenant: tenant.id } },
          body: {
            feature_code: code, amount, priority, expires_at: ends ? endOfDay(ends) : null, reason: String(values.reason).trim() || null,
            ...(later ? { starts_at: new Date(`${starts}T00:00:00`).toISOString() } : {}),
          },
        })
        await saved(<Trans>{given} units of {meter.name} were granted.</Trans>)
      }}
    >
      {({ busy }) => (
        <>
          <p className="flat"><Trans>Granted units are free. They are used once the limit of the period is reached.</Trans></p>
          <div className="two">
            <SelectField name="feature_code" label={t`Meter`} value={code} onChange={(event) => setCode(event.target.value)}>
              {meters.map((one) => <option key={one.code} value={one.code}>{one.name}</option>)}
            </SelectField>
            <TextField name="amount" label={t`Units`} inputMode="decimal" autoComplete="off" value={units} onChange={(event) => setUnits(event.target.value)} data-autofocus />
            <TextField name="starts_at" type="date" label={t`Starts`} min={today()} value={starts} onChange={(event) => setStarts(event.target.value)} />
            <TextField name="expires_at" type="date" label={t`Last day`} hint={t`optional`} min={starts || today()} value={ends} onChange={(event) => setEnds(event.target.value)} />
          </div>
          <TextField name="priority" label={t`Priority`} inputMode="numeric" defaultValue="50" autoComplete="off" help={t`0 to 100. The lowest number is used first, then the earliest expiry.`} />
          <TextField name="reason" label={t`Reason`} hint={t`optional`} maxLength={500} autoComplete="off" />
          {valid && (
            <p className="outcome" role="status">
              {later ? <Trans>{meter.name}: <b>{given} more granted units</b> from {day}.</Trans> : <Trans>{meter.name}: {before} → <b>{after} granted units</b>.</Trans>}{' '}
              {limit ? <Trans>They come on top of the limit of {limit}.</Trans> : <Trans>Without a limit, they are used only if the plan bills this meter.</Trans>}
            </p>
          )}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{valid ? <Trans>Grant {given} units</Trans> : <Trans>Grant units</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
