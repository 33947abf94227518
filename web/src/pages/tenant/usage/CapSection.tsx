import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, ApiError } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useHolds } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Field, SelectField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Icon } from '../../../ui/Icon'
import { Section } from '../../../ui/Page'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import type { Gauge } from '../home/meters'
import { useAction } from '../shared/Action'
import { useHere, useRefresh } from '../shared/reads'
import { useWords } from '../shared/words'

/** The tenant's own limit of a meter. */
export function CapSection({ gauges, initial, mayChange }: { gauges: Gauge[]; initial: string; mayChange: boolean }) {
  const [code, setCode] = useState<string>()
  const gauge = gauges.find((one) => one.code === (code ?? initial)) ?? gauges[0]!
  return (
    <Section className="" title={<Trans>Usage cap</Trans>} lead={<Trans>Your own limit for a meter, so that a bill can’t surprise you.</Trans>}>
      {mayChange
        ? <CapForm key={`${gauge.code} ${gauge.quota?.cap}`} gauge={gauge} gauges={gauges} onChoose={setCode} />
        : <Caps gauges={gauges} />}
    </Section>
  )
}

/** The caps, for members who cannot change them. */
function Caps({ gauges }: { gauges: Gauge[] }) {
  const holds = useHolds()
  const words = useWords()
  const capped = gauges.filter((one) => (one.quota?.cap ?? null) !== null)
  return (
    <div className="stack">
      {capped.length === 0 ? <p className="t13 muted"><Trans>No caps are set.</Trans></p> : (
        <dl className="dl">
          {capped.map((one) => {
            const cap = words.quantity(one.quota!.cap!, one.unit)
            return <div key={one.code}><dt>{one.name}</dt><dd>{one.resets === 'none' ? cap : <Trans>{cap} per period</Trans>}</dd></div>
          })}
        </dl>
      )}
      {!holds('billing.manage') && <p className="lockline"><Icon name="lock" /><span><Trans>Only members who manage billing can change caps.</Trans></span></p>}
    </div>
  )
}

function CapForm({ gauge, gauges, onChoose }: { gauge: Gauge; gauges: Gauge[]; onChoose: (code: string) => void }) {
  const { t } = useLingui()
  const words = useWords()
  const format = useFormat()
  const { params } = useHere()
  const refresh = useRefresh()
  const cap = gauge.quota?.cap ?? null
  const [text, setText] = useState(cap === null ? '' : format.number(cap))
  const wanted = format.parse(text)
  const price = gauge.quota?.unit_price_cents ?? null

  async function put(limit: number | null) {
    await api.PUT('/api/v1/tenant/{tenantId}/usage/{meterCode}/cap', { params: { path: { ...params.path, meterCode: gauge.code } }, body: { limit } })
    await refresh('/usage')
  }
  const remove = useAction(async () => {
    await put(null)
    toast(<Trans>The cap of {gauge.name} was removed.</Trans>, { label: t`Undo`, run: () => put(cap) })
  }, t`The cap was not removed`)
  const used = words.quantity(gauge.used, gauge.unit)
  const most = price !== null && wanted !== undefined && gauge.quota?.currency ? format.money(Math.round(price * wanted), gauge.quota.currency) : ''
  const below = wanted !== undefined && wanted < gauge.used
  const help = below ? undefined
    : most ? <Trans>You pay at most {most} for {gauge.name} per period. Usage over the cap is rejected.</Trans>
      : <Trans>It counts all usage of the period, including prepaid units. Usage over the cap is rejected.</Trans>
  return (
    <Form
      className="stack"
      onSubmit={async () => {
        if (wanted === undefined) {
          const message = t`Enter a whole number, such as 5,000.`
          throw new ApiError(422, message, undefined, { limit: [message] })
        }
        await put(wanted)
        const limit = words.quantity(wanted, gauge.unit)
        toast(<Trans>{gauge.name} is now capped at {limit}.</Trans>)
      }}
    >
      {({ busy }) => (
        <>
          <div className="two">
            <SelectField name="meter" label={t`Meter`} value={gauge.code} onChange={(event) => onChoose(event.target.value)}>
              {gauges.map((one) => <option key={one.code} value={one.code}>{one.name}</option>)}
            </SelectField>
            <Field name="limit" label={gauge.resets === 'none' ? t`Cap` : t`Cap per period`}>
              {({ bad, ...field }) => (
                <div className={gauge.unit ? 'unit' : undefined}>
                  <input {...field} className={`input tnum ${bad}`} inputMode="numeric" autoComplete="off" value={text} placeholder={t`No cap`} onChange={(event) => setText(event.target.value)} />
                  {gauge.unit && <span>{gauge.unit}</span>}
                </div>
              )}
            </Field>
          </div>
          {below && (
            <p className="check-r" role="status">
              <Status tone="warn"><Trans>Below current usage</Trans></Status>
              <span><Trans>You have used {used}. New usage is rejected until it resets.</Trans></span>
            </p>
          )}
          {help && <p className="help">{help}</p>}
          <div className="acts">
            <Button type="submit" busy={busy}><Trans>Save cap</Trans></Button>
            {cap !== null && <Button look="quiet" busy={remove.busy} onClick={() => remove.run()}><Trans>Remove cap</Trans></Button>}
          </div>
          {remove.problem}
        </>
      )}
    </Form>
  )
}
