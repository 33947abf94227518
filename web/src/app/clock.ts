/** How far the service's clock is ahead of this machine's, in ms: the sandbox moves it. */
let ahead = 0

/** Returns the service's time, in the format of Date.now(). */
export function now(): number {
  return Date.now() + ahead
}

/** Sets the service's time. */
export function setNow(at: string): void {
  ahead = new Date(at).getTime() - Date.now()
}
