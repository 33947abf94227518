/** Reads that the script start.js has begun before the console was loaded. */
declare global {
  interface Window { early?: { urls: string[]; response: Promise<Response> } }
}

interface Read { url: string; resolve: (response: Response) => void; reject: (error: unknown) => void }

interface Answer { url: string; status: number; body: unknown }

/** The service accepts this many reads at once. */
const most = 40

let waiting: Read[] = []

/** Returns the responses to several reads, by their position. null: the read has to be sent alone. */
async function answersOf(response: Promise<Response>, count: number): Promise<(Response | null)[]> {
  const all = await response
  if (!all.ok) return Array.from({ length: count }, () => all.clone())
  const { data } = (await all.json()) as { data: Answer[] }
  return data.map(({ status, body }) => (body === null && status === 200
    ? null
    : new Response(status === 204 ? null : JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })))
}

/** Drops the early reads, whose responses a write may change. */
export function forgetEarly(): void {
  delete window.early
}

/** Returns the response to an early read, once. */
async function takeEarly(url: string): Promise<Response | null> {
  const early = window.early
  const at = early?.urls.indexOf(url) ?? -1
  if (!early || at < 0) return null
  early.urls[at] = ''
  try {
    return (await answersOf(early.response.then((response) => response.clone()), early.urls.length))[at] ?? null
  } catch {
    return null // the console sends it again
  }
}

async function sendAll(reads: Read[], send: (url: string) => Promise<Response>): Promise<void> {
  try {
    if (reads.length === 1) return reads[0]!.resolve(await send(reads[0]!.url))
    const query = reads.map(({ url }) => `url=${encodeURIComponent(url)}`).join('&')
    const answers = await answersOf(send(`/api/v1/batch?${query}`), reads.length)
    for (const [i, { url, resolve, reject }] of reads.entries()) {
      const answer = answers[i]
      if (answer) resolve(answer)
      else send(url).then(resolve, reject)
    }
  } catch (error) {
    for (const { reject } of reads) reject(error)
  }
}

/**
 * Reads a path of the API. Reads of the same moment are one request, because the time of a request
 * on a slow network hardly depends on its size.
 */
export async function read(url: string, send: (url: string) => Promise<Response>): Promise<Response> {
  const early = await takeEarly(url)
  if (early) return early
  return new Promise((resolve, reject) => {
    if (waiting.length === 0) {
      setTimeout(() => {
        const reads = waiting
        waiting = []
        for (let i = 0; i < reads.length; i += most) void sendAll(reads.slice(i, i + most), send)
      })
    }
    waiting.push({ url, resolve, reject })
  })
}
