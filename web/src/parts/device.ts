import { useLingui } from '@lingui/react/macro'
import type { IconName } from '../ui/Icon'

const browsers = [['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']] as const
const systems = [['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Android', 'Android'], ['Windows', 'Windows'], ['Mac OS', 'macOS'], ['Linux', 'Linux']] as const

const find = (names: readonly (readonly [string, string])[], agent: string) => names.find(([part]) => agent.includes(part))?.[1]

/** Returns a function that names the browser and system of a user agent, or the user agent. */
export function useDevice(): (agent: string) => string {
  const { t } = useLingui()
  return (agent) => {
    const browser = find(browsers, agent)
    const system = find(systems, agent)
    return (browser && system ? t`${browser} on ${system}` : (browser ?? system ?? agent.split(' ')[0])) || '?'
  }
}

/** Returns the icon of the device of a user agent. */
export function deviceIcon(agent: string): IconName {
  if (/iPhone|iPad|Android/.test(agent)) return 'phone'
  return find(browsers, agent) ? 'laptop' : 'terminal'
}
