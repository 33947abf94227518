import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { Check, SelectField, TextField } from '../../../ui/Field'
import { Section } from '../../../ui/Page'
import { allProductsQuery } from '../catalog/reads'
import { nameIn } from '../catalog/texts'
import type { Draft } from './draft'

/** The billing interval of a plan, its trial, and its position in lists. */
export function Terms({ draft, onChange, mayEdit }: { draft: Draft; onChange: (to: Partial<Draft>) => void; mayEdit: boolean }) {
  const { t, i18n } = useLingui()
  const products = useQuery(allProductsQuery).data ?? []
  const off = !mayEdit
  return (
    <Section title={<Trans>Pricing and availability</Trans>}>
      <div className="grid-2">
        <SelectField name="pricing_type" label={t`Pricing model`} disabled={off} value={draft.pricing_type} onChange={(event) => onChange({ pricing_type: event.target.value as Schema<'PricingType'> })} help={t`Cannot be changed while the plan has subscriptions.`}>
          <option value="flat">{t`flat rate`}</option>
          <option value="seat">{t`per seat`}</option>
          <option value="usage">{t`base price plus usage`}</option>
        </SelectField>
        <div className="two">
          <TextField name="interval_count" label={t`Billed every`} inputMode="numeric" disabled={off} value={draft.interval_count} onChange={(event) => onChange({ interval_count: event.target.value })} />
          <SelectField name="interval_unit" label={t`Unit`} disabled={off} value={draft.interval_unit} onChange={(event) => onChange({ interval_unit: event.target.value as Schema<'IntervalUnit'> })}>
            <option value="day">{t`days`}</option>
            <option value="week">{t`weeks`}</option>
            <option value="month">{t`months`}</option>
            <option value="year">{t`years`}</option>
          </SelectField>
        </div>
        <TextField name="trial_days" label={t`Trial (days)`} inputMode="numeric" disabled={off} value={draft.trial_days} onChange={(event) => onChange({ trial_days: event.target.value })} help={t`0 for no trial. Each customer gets one trial per product.`} />
        <TextField name="sort_order" label={t`Position in lists`} inputMode="numeric" disabled={off} value={draft.sort_order} onChange={(event) => onChange({ sort_order: event.target.value })} help={t`Lower numbers come first.`} />
        <SelectField name="product_id" label={t`Product`} disabled={off} value={draft.product_id} onChange={(event) => onChange({ product_id: event.target.value })}>
          {products.map((one) => <option key={one.id} value={one.id}>{nameIn(one.translations, i18n.locale)}</option>)}
        </SelectField>
        <TextField name="slug" label={t`Short name`} disabled={off} value={draft.slug} onChange={(event) => onChange({ slug: event.target.value })} autoComplete="off" help={t`Identifies it in the API and the catalog file.`} />
      </div>
      <div className="gap-top">
        <Check name="is_active" checked={draft.is_active} disabled={off} onChange={(event) => onChange({ is_active: event.target.checked })} small={<Trans>If this is off, new customers cannot buy the plan. Existing customers keep it.</Trans>}>
          <Trans>On sale</Trans>
        </Check>
      </div>
      {(Number(draft.trial_days) > 0 || !draft.trial_requires_card) && (
        <div className="gap-top">
          <Check name="trial_requires_card" checked={draft.trial_requires_card} disabled={off} onChange={(event) => onChange({ trial_requires_card: event.target.checked })} small={<Trans>If this is off, the trial starts without a card. Without one, the subscription ends with the trial and the default plan applies.</Trans>}>
            <Trans>Card required for the trial</Trans>
          </Check>
        </div>
      )}
      <div className="gap-top">
        <Check name="is_default" checked={draft.is_default} disabled={off} onChange={(event) => onChange({ is_default: event.target.checked })} small={<Trans>Applies to every tenant without a subscription. It must be a flat plan that is on sale, without a price and without a trial.</Trans>}>
          <Trans>Default plan</Trans>
        </Check>
      </div>
    </Section>
  )
}
