/** Returns the browser and system in a user agent, or the user agent itself. */
export function deviceOf(agent: string): string {
  const browser = [['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']].find(([part]) => agent.includes(part!))?.[1]
  const system = [['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Android', 'Android'], ['Windows', 'Windows'], ['Mac OS', 'macOS'], ['Linux', 'Linux']].find(([part]) => agent.includes(part!))?.[1]
  return [browser, system].filter(Boolean).join(', ') || agent.split(' ')[0] || '?'
}
