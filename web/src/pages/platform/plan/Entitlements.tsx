import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { FieldErrors } from '../../../ui/Field'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { allFeaturesQuery } from '../catalog/reads'
import { nameIn } from '../catalog/texts'
import type { Draft, DraftEntitlement } from './draft'

/** The features of a plan, with their limits. */
export function Entitlements({ of, onChange, mayEdit }: { of: Draft['entitlements']; onChange: (to: Draft['entitlements']) => void; mayEdit: boolean }) {
  const { t, i18n } = useLingui()
  const features = useQuery(allFeaturesQuery)
  const errors = useContext(FieldErrors)
  const set = (id: string, to: DraftEntitlement) => onChange({ ...of, [id]: to })
  return (
    <Section
      title={<Trans>Features</Trans>} end={<ButtonLink size="s" to="/platform/catalog/features"><Trans>Features</Trans></ButtonLink>}
      lead={<Trans>A number is a limit. Without a number, the feature is unlimited. Changes apply immediately, including to existing subscriptions.</Trans>}
    >
      <Read query={features} lines={5}>
        {(all) => all.length === 0
          ? <p className="t13 muted"><Trans>There are no features yet. Create one for each thing that differs between plans.</Trans></p>
          : (
            <div className="ents">
              {all.filter((one) => one.is_active || of[one.id]?.on).map((feature) => {
                const name = nameIn(feature.translations, i18n.locale)
                const now = of[feature.id] ?? { on: false, limit: '' }
                const error = errors[`entitlement.${feature.id}`]?.[0]
                return (
                  <div key={feature.id}>
                    <label className="check">
                      <input type="checkbox" checked={now.on} disabled={!mayEdit} onChange={(event) => set(feature.id, { ...now, on: event.target.checked })} />
                      <span>{name}{error && <small className="bad">{error}</small>}</span>
                    </label>
                    {now.on && (
                      <input
                        className={`input dense ${error ? 'is-bad' : ''}`} name={`entitlement.${feature.id}`} value={now.limit} inputMode="numeric" placeholder="∞" autoComplete="off" disabled={!mayEdit}
                        aria-label={t`Limit of ${name}`} aria-invalid={error ? true : undefined} onChange={(event) => set(feature.id, { ...now, limit: event.target.value })}
                      />
                    )}
                  </div>
                )
              })}
            </div>
          )}
      </Read>
      {errors.entitlements && <p className="error">{errors.entitlements[0]}</p>}
    </Section>
  )
}
