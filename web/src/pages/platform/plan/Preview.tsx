import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formats } from '../../../app/format'
import { languages, type Language } from '../../../app/locale'
import { useSettings } from '../../../app/session'
import { Segments } from '../../../ui/Field'
import { Icon } from '../../../ui/Icon'
import { allFeaturesQuery } from '../catalog/reads'
import { languageCodes, nameIn } from '../catalog/texts'
import { useDigits } from './digits'
import { minorUnits, type Draft } from './draft'
import { offerWords } from './offerWords'

/** The price as customers see it in a language. */
function Price({ draft, currency, language }: { draft: Draft; currency: string | undefined; language: Language }) {
  const digits = useDigits()
  const words = offerWords[language]
  const amount = draft.prices.find((one) => one.currency === currency)?.amount
  const cents = currency && amount !== undefined ? minorUnits(amount, digits(currency)) : undefined
  const every = words.every(draft.interval_unit, Number(draft.interval_count) || 1)
  const by = { flat: '', seat: ` ${words.seat}`, usage: `, ${words.usage}` }[draft.pricing_type]
  return <p className="p"><b>{cents === undefined || !currency ? '–' : formats(language).money(cents, currency)}</b> <span className="faint t13">{every}{by}</span></p>
}

/** The plan as customers will see it, in a selected language and currency. */
export function Preview({ draft }: { draft: Draft }) {
  const { t, i18n } = useLingui()
  const settings = useSettings()
  const features = useQuery(allFeaturesQuery).data ?? []
  const [language, setLanguage] = useState<Language>(i18n.locale as Language)
  const [chosen, setChosen] = useState<string>()
  const currency = draft.prices.find((one) => one.currency === chosen)?.currency ?? draft.prices[0]?.currency
  const words = offerWords[language]
  const texts = draft.texts[language]
  const name = texts.name || draft.texts.en.name
  const number = formats(language).number
  const given = features.filter((one) => draft.entitlements[one.id]?.on && one.is_active)
  const trial = Number(draft.trial_days)
  return (
    <>
      <div className="preview-bar">
        <h2><Trans>What customers see</Trans></h2>
        {draft.prices.length > 1 && (
          <select className="select dense plain" aria-label={t`Currency`} value={currency} onChange={(event) => setChosen(event.target.value)}>
            {draft.prices.map((one) => <option key={one.currency}>{one.currency}</option>)}
          </select>
        )}
      </div>
      {settings.locales.length > 1 && <Segments
        className="s block4" label={t`Language`} value={language} onChange={setLanguage}
        options={languageCodes.filter((code) => settings.locales.includes(code)).map((code) => ({ value: code, label: <abbr title={languages[code]}>{code.toUpperCase()}</abbr> }))}
      />}
      <div className="offer" lang={language}>
        <h3>{name || '–'}</h3>
        <p className="t13 muted">{texts.description || draft.texts.en.description}</p>
        <Price draft={draft} currency={currency} language={language} />
        {trial > 0 && <p className="t13 muted">{words.trial(trial)}</p>}
        <ul>
          {given.map((one) => {
            const limit = Number(draft.entitlements[one.id]?.limit)
            const feature = nameIn(one.translations, language)
            return <li key={one.id}><Icon name="check" /><span>{feature}{limit > 0 && `: ${number(limit)}`}</span></li>
          })}
        </ul>
        <span className="btn block" aria-hidden="true">{words.choose(name)}</span>
      </div>
      <p className="help"><Trans>Edit the texts of features <Link to="/platform/catalog/features">under Features</Link>.</Trans></p>
    </>
  )
}
