/** The languages, in the order in which a message has them. */
export const languages = ['en', 'fr', 'es', 'it'] as const

export type Language = (typeof languages)[number]

/** A text, or the forms that depend on a count: those of CLDR's plural categories. */
export type Text = string | { one: string; many?: string; other: string }

/** A message in all languages. Values stand as {name}; # is the count. */
export type Message = readonly [en: Text, fr: Text, es: Text, it: Text]

/** Reports the language of a tag such as fr-CA, or nothing where there are no texts in it. */
export function languageOf(tag: string | null | undefined): Language | undefined {
  const short = tag?.toLowerCase().split('-')[0]
  return languages.find((one) => one === short)
}

/** Writes a message in a language. */
export function write(language: Language, message: Message, values: Record<string, string | number> = {}): string {
  const text = message[languages.indexOf(language)] ?? message[0]
  const count = Number(values.count)
  const form = typeof text === 'string' ? text : (text[new Intl.PluralRules(language).select(count) as 'one'] ?? text.other)
  return form.replace(/#/g, () => new Intl.NumberFormat(language).format(count)).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}
