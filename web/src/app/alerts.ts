import { address, api } from '../api/client'

/** Whether this browser supports alerts, and whether the user has denied or enabled them. */
export type AlertState = 'unsupported' | 'denied' | 'off' | 'on'

const scope = address('')

function supported(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window
}

async function present(): Promise<PushSubscription | null> {
  const worker = await navigator.serviceWorker.getRegistration(scope)
  return (await worker?.pushManager.getSubscription()) ?? null
}

/**
 * Returns the state in this browser. endpoints are the endpoints that receive the user's alerts.
 */
export async function readAlerts(endpoints: string[]): Promise<{ state: AlertState; endpoint?: string }> {
  if (!supported()) return { state: 'unsupported' }
  if (Notification.permission === 'denied') return { state: 'denied' }
  const endpoint = (await present())?.endpoint
  return { state: endpoint && endpoints.includes(endpoint) ? 'on' : 'off', endpoint }
}

/**
 * Asks for permission and subscribes. Call it in a click handler. Returns false if the user denies
 * it.
 */
export async function turnAlertsOn(publicKey: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false
  await navigator.serviceWorker.register(address('worker.js'), { scope })
  const worker = await navigator.serviceWorker.ready
  // A subscription with an earlier key of the service no longer works.
  await (await worker.pushManager.getSubscription())?.unsubscribe()
  const { endpoint, keys } = (await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })).toJSON()
  await api.POST('/api/v1/push-subscriptions', { body: { endpoint: endpoint!, keys: { p256dh: keys!.p256dh!, auth: keys!.auth! } } })
  return true
}

/** Turns off the alerts in this browser. */
export async function turnAlertsOff(): Promise<void> {
  if (!supported()) return
  const subscription = await present()
  if (!subscription) return
  await api.DELETE('/api/v1/push-subscriptions', { body: { endpoint: subscription.endpoint } })
  await subscription.unsubscribe()
}
