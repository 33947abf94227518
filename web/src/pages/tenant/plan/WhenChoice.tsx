import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Check } from '../../../ui/Field'
import type { Moment } from '../../../parts/scheduled'

/** The choice between a change now and at the end of the period. */
export function WhenChoice({ moments, value, onChange, preview, subscription }: {
  moments: Moment[]; value: Moment; onChange: (to: Moment) => void
  preview: Schema<'ChangePreview'> | undefined; subscription: Schema<'Subscription'>
}) {
  const { t } = useLingui()
  const format = useFormat()
  if (moments.length < 2) return null
  const end = format.day(subscription.current_period_end)
  const { name } = subscription.plan
  const trial = subscription.status === 'trialing'
  const left = preview?.breakdown.days_remaining ?? 0
  const credit = preview && preview.net.cents < 0 ? format.money(-preview.net.cents, preview.net.currency) : undefined
  const now = value === 'now' && preview
    ? credit ? t`Get ${credit} as credit` : preview.due_now.cents > 0 && left > 0 ? plural(left, { one: `Pay for the # day until ${end}`, other: `Pay for the # days until ${end}` }) : t`Pay nothing today`
    : t`Only the days until ${end} are charged or credited`
  const cheaper = moments[0] === 'period_end'
  return (
    <fieldset className="when">
      <legend className="label"><Trans>When</Trans></legend>
      {moments.map((one) => one === 'now'
        ? <Check key={one} type="radio" name="when" value={one} checked={value === one} onChange={() => onChange(one)} small={trial ? undefined : now}>{trial ? <Trans>Now</Trans> : <Trans>Now, prorated</Trans>}</Check>
        : (
            <Check key={one} type="radio" name="when" value={one} checked={value === one} onChange={() => onChange(one)} small={cheaper ? <Trans>Keep {name} until then</Trans> : <Trans>Pay nothing today</Trans>}>
              {trial ? <Trans>At the end of the trial, on {end}</Trans> : <Trans>At renewal on {end}</Trans>}
            </Check>
          ))}
    </fieldset>
  )
}
