import type { Schema } from '../../../api/client'
import type { Language } from '../../../app/locale'

/** A name and a description in every language, as they are written. */
export type Texts = Record<Language, { name: string; description: string }>

export const languageCodes: Language[] = ['en', 'fr', 'es', 'it']

/** The texts of a record, with an empty one where none was written. */
export function textsOf(translations: Record<string, Schema<'Translation'>> = {}): Texts {
  const of = (code: Language) => ({ name: translations[code]?.name ?? '', description: translations[code]?.description ?? '' })
  return { en: of('en'), fr: of('fr'), es: of('es'), it: of('it') }
}

/** The texts as a request has them: what is empty is null, and a description without any text is none. */
export function sent(texts: Texts) {
  const by = (key: 'name' | 'description') => {
    const of = (code: Language) => texts[code][key].trim() || null
    return { en: texts.en[key].trim(), fr: of('fr'), es: of('es'), it: of('it') }
  }
  const description = by('description')
  return { name: by('name'), description: Object.values(description).some(Boolean) ? description : null }
}

/** The name in a language, else in English. */
export function nameIn(translations: Record<string, Schema<'Translation'>>, language: string): string {
  return translations[language]?.name || translations.en?.name || ''
}

/** A code or slug made from a name, until somebody writes another. */
export function slugOf(name: string): string {
  return name.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
}
