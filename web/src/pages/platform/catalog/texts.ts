import type { Language } from '../../../app/locale'

/** A name and a description in every language, as edited. */
export type Texts = Record<Language, { name: string; description: string }>

export const languageCodes: Language[] = ['en', 'fr', 'es', 'it']

/** Returns the texts of an object, with empty texts for missing ones. */
export function textsOf(translations: Record<string, { name: string | null; description?: string | null }> = {}): Texts {
  const of = (code: Language) => ({ name: translations[code]?.name ?? '', description: translations[code]?.description ?? '' })
  return { en: of('en'), fr: of('fr'), es: of('es'), it: of('it') }
}

/**
 * Converts texts for a request: an empty text is null, and so is a description without any text.
 */
export function sent(texts: Texts) {
  const by = (key: 'name' | 'description') => {
    const of = (code: Language) => texts[code][key].trim() || null
    return { en: texts.en[key].trim(), fr: of('fr'), es: of('es'), it: of('it') }
  }
  const description = by('description')
  return { name: by('name'), description: Object.values(description).some(Boolean) ? description : null }
}

/** Returns the name in a language, otherwise in English. */
export function nameIn(translations: Record<string, { name: string | null }>, language: string): string {
  return translations[language]?.name || translations.en?.name || ''
}

/** Returns a code or slug for a name, until the user edits it. */
export function slugOf(name: string): string {
  return name.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
}
