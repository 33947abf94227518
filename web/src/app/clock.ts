/** How far the service's time is ahead of this machine's, in ms: the sandbox moves it. */
let ahead = 0

/** The service's time, as a number like Date.now(). */
export function now(): number {
  return Date.now() + ahead
}

/** Takes the service's time. */
export function setNow(at: string): void {
  ahead = new Date(at).getTime() - Date.now()
}
