import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Check } from '../../../ui/Field'
import { startsPeriod, type Moment } from '../../../parts/scheduled'

/** The choice between a change now and at the end of the period. */
export function WhenChoice({ moments, value, onChange, plan, preview, subscription }: {
  moments: Moment[]; value: Moment; onChange: (to: Moment) => void
  plan: Schema<'OfferedPlan'>; preview: Schema<'ChangePreview'> | undefined; subscription: Schema<'Subscription'>
}) {
  const { t } = useLingui()
  const format = useFormat()
  if (moments.length < 2) return null
  const end = format.day(subscription.current_period_end)
  const { name } = subscription.plan
  const trial = subscription.status === 'trialing'
  const restarts = startsPeriod(plan, subscription)
  const left = preview?.breakdown.days_remaining ?? 0
  const credit = preview && preview.net.cents < 0 ? format.money(-preview.net.cents, preview.net.currency) : undefined
  const now = value === 'now' && credit ? t`Get ${credit} as credit`
    : restarts ? t`A new period starts today`
      : value !== 'now' || !preview ? t`Only the days until ${end} are charged or credited`
        : preview.due_now.cents > 0 && left > 0 ? plural(left, { one: `Pay for the # day until ${end}`, other: `Pay for the # days until ${end}` }) : t`Pay nothing today`
  const cheaper = moments[0] === 'period_end'
  return (
    <fieldset className="when">
      <legend className="label"><Trans>When</Trans></legend>
      {moments.map((one) => one === 'now'
        ? <Check key={one} type="radio" name="when" value={one} checked={value === one} onChange={() => onChange(one)} small={trial ? undefined : now}>{trial || restarts ? <Trans>Now</Trans> : <Trans>Now, prorated</Trans>}</Check>
        : (
            <Check key={one} type="radio" name="when" value={one} checked={value === one} onChange={() => onChange(one)} small={cheaper ? <Trans>Keep {name} until then</Trans> : <Trans>Pay nothing today</Trans>}>
              {trial ? <Trans>At the end of the trial, on {end}</Trans> : <Trans>At renewal on {end}</Trans>}
            </Check>
          ))}
    </fieldset>
  )
}
