/** The display names of identity providers. */
const names: Record<string, string> = { google: 'Google', github: 'GitHub', microsoft: 'Microsoft', apple: 'Apple' }

/** Returns the display name of an identity provider, or its code if it has none. */
export function providerName(code: string): string {
  return names[code] ?? code
}
