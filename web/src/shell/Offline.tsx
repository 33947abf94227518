import { Trans } from '@lingui/react/macro'
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { Icon } from '../ui/Icon'

const subscribe = (read: () => void) => onlineManager.subscribe(read)

/** Shows that there is no connection. It covers nothing and does not move the page. */
export function Offline() {
  const online = useSyncExternalStore(subscribe, () => onlineManager.isOnline())
  if (online) return null
  return (
    <div className="toast">
      <Icon name="alert" />
      <span><Trans><b>You are offline.</b> Your changes are kept. Save them when you are back online.</Trans></span>
    </div>
  )
}
