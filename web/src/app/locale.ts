import { i18n, type Messages } from '@lingui/core'
import { setApiLocale } from '../api/client'

/** The languages of the console, with their native names. */
export const languages = { en: 'English', fr: 'Français', es: 'Español', it: 'Italiano' } as const

export type Language = keyof typeof languages

type Catalogs = Record<string, () => Promise<{ messages: Messages }>>

/** The catalogs of each area. */
const areas = {
  shared: import.meta.glob('../locales/*.po') as Catalogs,
  out: import.meta.glob('../pages/out/locales/*.po') as Catalogs,
  profile: import.meta.glob('../pages/profile/locales/*.po') as Catalogs,
  tenant: import.meta.glob('../pages/tenant/locales/*.po') as Catalogs,
  platform: import.meta.glob('../pages/platform/locales/*.po') as Catalogs,
  analytics: import.meta.glob('../pages/platform/analytics/locales/*.po') as Catalogs,
  // API keys, webhooks and requests, of the platform or a tenant.
  developers: import.meta.glob('../parts/developers/locales/*.po') as Catalogs,
  // The lists across tenants.
  lists: import.meta.glob('../pages/platform/lists/locales/*.po') as Catalogs,
  search: import.meta.glob('../search/locales/*.po') as Catalogs,
  // One customer, on the pages of the platform.
  customer: import.meta.glob('../pages/platform/tenant/locales/*.po') as Catalogs,
}

export type Area = keyof typeof areas

const used = new Set<Area>(['shared'])

async function read(area: Area, language: string): Promise<Messages> {
  const load = Object.entries(areas[area]).find(([file]) => file.endsWith(`/${language}.po`))?.[1]
  if (!load) throw new Error(`no texts of ${area} in ${language}`)
  return (await load()).messages
}

function isLanguage(text: string | null | undefined): text is Language {
  return !!text && text in languages
}

/** Returns the offered languages with their names. */
export function offered(locales: readonly string[]): [Language, string][] {
  return (Object.entries(languages) as [Language, string][]).filter(([code]) => locales.includes(code))
}

/** Returns the initial language, which the script start.js has chosen. */
export function preferredLanguage(): Language {
  const { lang } = document.documentElement
  return isLanguage(lang) ? lang : 'en'
}

/** Loads the texts of an area in the current language. */
export async function textsOf(area: Area): Promise<void> {
  if (used.has(area)) return
  used.add(area)
  i18n.load(i18n.locale, await read(area, i18n.locale))
}

// Lingui decodes escape sequences of a message after it has inserted the values, so a value such as
// "C:\\u0041" would change. Hide the backslashes of values while it does.
const hidden = '\uE000'
const format = i18n._.bind(i18n)
i18n._ = ((id: string, values?: Record<string, unknown>, options?: { message?: string }) => {
  const safe = Object.entries(values ?? {}).map(([key, value]) => [key, typeof value === 'string' ? value.replaceAll('\\', hidden) : value])
  return format(id, Object.fromEntries(safe), options).replaceAll(hidden, '\\')
}) as typeof i18n._

/** Switches to a language. remember stores the choice in this browser. */
export async function showIn(language: string | null | undefined, remember = false): Promise<void> {
  if (!isLanguage(language)) return
  const messages = await Promise.all([...used].map((area) => read(area, language)))
  i18n.loadAndActivate({ locale: language, messages: Object.assign({}, ...messages) })
  document.documentElement.lang = language
  setApiLocale(language)
  if (remember) {
    try {
      localStorage.setItem('locale', language)
    } catch {
      // Without storage the choice lasts until the page is closed.
    }
  }
}
