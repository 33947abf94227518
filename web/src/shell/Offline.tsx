import { Trans } from '@lingui/react/macro'
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { Icon } from '../ui/Icon'

const subscribe = (read: () => void) => onlineManager.subscribe(read)

/** Says, as long as it is so, that there is no connection. It covers nothing and moves nothing. */
export function Offline() {
  const online = useSyncExternalStore(subscribe, () => onlineManager.isOnline())
  if (online) return null
  return (
    <div className="toast">
      <Icon name="alert" />
      <span><Trans><b>You are offline.</b> What you have written is kept; save it when you are back.</Trans></span>
    </div>
  )
}
