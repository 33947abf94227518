import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { address } from '../../../api/client'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import type { Gauge, Period } from '../home/meters'
import { useHere } from '../shared/reads'

const dayOf = (at: Date) => at.toISOString().slice(0, 10)

/** Downloads the events of a meter as CSV. */
export function DownloadUsage({ gauges, period, open, onClose }: { gauges: Gauge[]; period?: Period; open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open && !!period} onClose={onClose} title={<Trans>Download usage</Trans>}>
      {period && <Body gauges={gauges} period={period} onClose={onClose} />}
    </Dialog>
  )
}

function Body({ gauges, period, onClose }: { gauges: Gauge[]; period: Period; onClose: () => void }) {
  const { t } = useLingui()
  const { params } = useHere()
  const [code, setCode] = useState(gauges[0]!.code)
  const [from, setFrom] = useState(dayOf(period.start))
  const [last, setLast] = useState(dayOf(period.now))
  const wrong = !!from && !!last && from > last
  // The service ends before a day, and the form includes it.
  const to = last && dayOf(new Date(Date.parse(last) + 86_400_000))
  const query = new URLSearchParams({ meter_code: code, bom: 'true', ...(from ? { from } : {}), ...(to ? { to } : {}) })
  return (
    <div className="stack">
      <SelectField name="meter_code" label={t`Meter`} value={code} onChange={(event) => setCode(event.target.value)} data-autofocus>
        {gauges.map((one) => <option key={one.code} value={one.code}>{one.name}</option>)}
      </SelectField>
      <div className="two">
        <TextField name="from" type="date" label={t({ message: 'From', context: 'a day' })} value={from} max={last} onChange={(event) => setFrom(event.target.value)} />
        <TextField name="to" type="date" label={t`Last day`} value={last} min={from} onChange={(event) => setLast(event.target.value)} error={wrong && t`The last day is before the first.`} />
      </div>
      <p className="help"><Trans>One row per event, with time, quantity and metadata. Days are in UTC.</Trans></p>
      <div className="acts">
        <Button onClick={onClose}><Trans>Cancel</Trans></Button>
        {wrong
          ? <Button look="primary" icon="download" disabled><Trans>Download CSV</Trans></Button>
          : <ButtonAnchor look="primary" icon="download" href={address(`/api/v1/tenant/${params.path.tenantId}/usage/export?${query}`)} download onClick={onClose}><Trans>Download CSV</Trans></ButtonAnchor>}
      </div>
    </div>
  )
}
