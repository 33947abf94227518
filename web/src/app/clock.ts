/** How far the service's clock is ahead of this machine's, in ms: the sandbox moves it. */
let ahead = 0

/** Returns the service's time, in the format of Date.now(). */
export function now(): number {
  return Date.now() + ahead
}

const watchers = new Set<() => void>()

/** Sets the service's time. */
export function setNow(at: string): void {
  ahead = new Date(at).getTime() - Date.now()
  watchers.forEach((tell) => tell())
}

/** Calls back whenever the service's time is set. Returns the function that ends this. */
export function onNow(tell: () => void): () => void {
  watchers.add(tell)
  return () => void watchers.delete(tell)
}
