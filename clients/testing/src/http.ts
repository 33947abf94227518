/** Waits until a look finds something, for at most so many milliseconds. */
export async function eventually<T>(what: string, timeout: number, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + timeout; ; ) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`There was no ${what} within ${timeout} ms.`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** Calls a service that speaks JSON; a refusal is an error that says what was refused, and why. */
export async function call<T>(method: string, url: string, body?: unknown, authorization?: string): Promise<T> {
  const headers = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...(authorization && { Authorization: authorization }) }
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  return answer<T>(method, url, response)
}

/** Sends a form, as a page of the sandbox or the payment provider's API takes it. */
export async function form<T>(url: string, fields: Record<string, string>, authorization?: string): Promise<T> {
  const headers = authorization ? { Authorization: authorization } : {}
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(fields), redirect: 'manual' })
  return answer<T>('POST', url, response)
}

async function answer<T>(method: string, url: string, response: Response): Promise<T> {
  const text = await response.text()
  if (response.status >= 400) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 500)}`)
  return (response.headers.get('Content-Type')?.includes('json') && text ? JSON.parse(text) : undefined) as T
}
