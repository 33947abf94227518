import { address, api } from '../api/client'

/** Whether this browser can show alerts, was told not to, or does. */
export type AlertState = 'unsupported' | 'denied' | 'off' | 'on'

const scope = address('')

function supported(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window
}

async function present(): Promise<PushSubscription | null> {
  const worker = await navigator.serviceWorker.getRegistration(scope)
  return (await worker?.pushManager.getSubscription()) ?? null
}

/** Returns the state here, where endpoints are those that the service sends the user's alerts to. */
export async function readAlerts(endpoints: string[]): Promise<{ state: AlertState; endpoint?: string }> {
  if (!supported()) return { state: 'unsupported' }
  if (Notification.permission === 'denied') return { state: 'denied' }
  const endpoint = (await present())?.endpoint
  return { state: endpoint && endpoints.includes(endpoint) ? 'on' : 'off', endpoint }
}

/** Asks the browser and subscribes. Call it from a click. Returns false where the person did not allow it. */
export async function turnAlertsOn(publicKey: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false
  await navigator.serviceWorker.register(address('worker.js'), { scope })
  const worker = await navigator.serviceWorker.ready
  // One that was made with another key of the service is of no use any more.
  await (await worker.pushManager.getSubscription())?.unsubscribe()
  const { endpoint, keys } = (await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })).toJSON()
  await api.POST('/api/v1/push-subscriptions', { body: { endpoint: endpoint!, keys: { p256dh: keys!.p256dh!, auth: keys!.auth! } } })
  return true
}

/** Ends the alerts in this browser. */
export async function turnAlertsOff(): Promise<void> {
  if (!supported()) return
  const subscription = await present()
  if (!subscription) return
  await api.DELETE('/api/v1/push-subscriptions', { body: { endpoint: subscription.endpoint } })
  await subscription.unsubscribe()
}
