/** The names of identity providers that people know. */
const names: Record<string, string> = { google: 'Google', github: 'GitHub', microsoft: 'Microsoft', apple: 'Apple' }

/** Returns the name of an identity provider, or its code if it has no name here. */
export function providerName(code: string): string {
  return names[code] ?? code
}
