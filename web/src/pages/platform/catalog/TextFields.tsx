import { Trans, useLingui } from '@lingui/react/macro'
import { useContext } from 'react'
import { languages, type Language } from '../../../app/locale'
import { useSettings } from '../../../app/session'
import { FieldErrors } from '../../../ui/Field'
import { Icon } from '../../../ui/Icon'
import { languageCodes, type Texts } from './texts'

function Below({ error, missing }: { error?: string; missing: boolean }) {
  if (error) return <p className="error"><Icon name="alert" />{error}</p>
  return <span className="help">{missing && <span className="st warn small"><Trans>Not translated yet</Trans></span>}</span>
}

/** Name and description in the offered languages, side by side; with names, only the name. */
export function TextFields({ texts, onChange, names = false }: { texts: Texts; onChange: (to: Texts) => void; names?: boolean }) {
  const { t } = useLingui()
  const errors = useContext(FieldErrors)
  const { locales } = useSettings()
  const set = (code: Language, key: 'name' | 'description', value: string) => onChange({ ...texts, [code]: { ...texts[code], [key]: value } })
  return (
    <div className="lang">
      {languageCodes.filter((code) => locales.includes(code)).map((code) => {
        const { name, description } = texts[code]
        const language = languages[code]
        const error = errors[`name.${code}`]?.[0] ?? errors[`description.${code}`]?.[0] ?? (code === 'en' ? errors.name?.[0] : undefined)
        return (
          <div key={code} lang={code}>
            <h3>{language}</h3>
            <input
              className={`input dense ${errors[`name.${code}`] ? 'is-bad' : ''}`} name={`name.${code}`} aria-label={t`Name in ${language}`} value={name} autoComplete="off"
              aria-invalid={errors[`name.${code}`] ? true : undefined} placeholder={code === 'en' ? t`Name` : texts.en.name} onChange={(event) => set(code, 'name', event.target.value)}
            />
            {!names && (
              <textarea
                className="area" name={`description.${code}`} aria-label={t`Description in ${language}`} value={description}
                aria-invalid={errors[`description.${code}`] ? true : undefined}
                placeholder={code === 'en' ? t`Description` : t`Shown in English until translated`} onChange={(event) => set(code, 'description', event.target.value)}
              />
            )}
            <Below error={error} missing={code !== 'en' && ((!name && !!texts.en.name) || (!description && !!texts.en.description))} />
          </div>
        )
      })}
    </div>
  )
}

/** Returns the number of languages that have a translation of every English text. */
export function writtenIn(texts: Texts, locales: string[]): number {
  return languageCodes.filter((code) => locales.includes(code) && texts[code].name && (texts[code].description || !texts.en.description)).length
}
