// The console's service worker. It shows push alerts and leads to what they are about; it keeps
// no files and answers no requests.
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))

addEventListener('push', (event) => {
  const { title, body, tag, url } = event.data.json()
  event.waitUntil(registration.showNotification(title, { body, tag, renotify: Boolean(tag), data: { url } }))
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(show(event.notification.data?.url))
})

/** Shows a page: of the console in a window that is open already, anything else in a new one. */
async function show(url) {
  const target = new URL(url || registration.scope, registration.scope).href
  if (target.startsWith(registration.scope)) {
    for (const client of await clients.matchAll({ type: 'window' })) {
      const shown = await client.navigate(target).catch(() => null)
      if (shown) return shown.focus()
    }
  }
  return clients.openWindow(target)
}

// A browser may replace its subscription at any time; the service has to learn of the new one.
addEventListener('pushsubscriptionchange', (event) => event.waitUntil(replace(event)))

async function replace({ oldSubscription, newSubscription }) {
  const now = newSubscription ?? (oldSubscription && (await registration.pushManager.subscribe(oldSubscription.options)))
  if (!now) return
  const at = (path) => new URL(path, registration.scope)
  const csrf = (await fetch(at('csrf-cookie'))).headers.get('X-CSRF-Token') ?? ''
  const headers = { 'Content-Type': 'application/json', 'X-XSRF-TOKEN': csrf }
  const { endpoint, keys } = now.toJSON()
  await fetch(at('api/v1/push-subscriptions'), { method: 'POST', headers, body: JSON.stringify({ endpoint, keys }) })
}
