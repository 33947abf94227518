import createFetchClient, { type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch'
import { nobody, type Auth } from './auth.js'
import { refused, TenantryError, unanswered } from './error.js'
import type { components, paths } from './schema.js'
import { sender, type SendOptions } from './send.js'

/** A schema of the API by its name, such as `Schema<'Tenant'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** The methods that the API has. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The paths that have a method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: unknown } ? P : never
}[keyof paths]

/** What a path takes for a method: `params` (`path`, `query`), `body`, `signal`, `headers`, `parseAs`. */
export type Input<P extends keyof paths, M extends Method> = MaybeOptionalInit<paths[P], M>

/** What a path answers to a method; void for an answer without content. */
export type Answer<P extends keyof paths, M extends Method, Init = unknown> = NoContent<
  Exclude<FetchResponse<Operation<paths[P][M]>, Init, `${string}/${string}`>['data'], undefined>
>

type Operation<T> = T extends Record<string | number, unknown> ? T : never
type NoContent<T> = [T] extends [never] ? void : T
type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T]
type Arguments<Init> = [RequiredKeys<Init>] extends [never] ? [init?: Init] : [init: Init]

/** Calls a path with a method, and fails with a TenantryError where the service refuses. */
export type Call<M extends Method> = <P extends PathWith<M>, Init extends Input<P, M>>(
  path: P,
  ...init: Arguments<Init>
) => Promise<Answer<P, M, Init>>

/** The paths that answer a list. */
export type ListPath = {
  [P in PathWith<'get'>]: Answer<P, 'get'> extends { data: readonly unknown[] } ? P : never
}[PathWith<'get'>]

/** An entry of a list. */
export type Entry<P extends ListPath> = Answer<P, 'get'> extends { data: readonly (infer T)[] } ? T : never

/** Tenantry's API, typed by its description: `tenantry.GET('/api/v1/auth/me')`. */
export interface Tenantry {
  GET: Call<'get'>
  POST: Call<'post'>
  PUT: Call<'put'>
  PATCH: Call<'patch'>
  DELETE: Call<'delete'>
  /** The entries of a list, whose pages are fetched as they are needed. `per_page` says how long a page is. */
  each<P extends ListPath, Init extends Input<P, 'get'>>(path: P, ...init: Arguments<Init>): AsyncIterableIterator<Entry<P>>
  /** Where the service is, without a slash at the end. */
  readonly baseUrl: string
}

/** Which service a client calls, and how. */
export interface ClientOptions extends SendOptions {
  /** Where the service is, such as `https://api.example.com`. Empty for the origin of the page. */
  baseUrl: string
  /** Who calls: cookies(), tokens() or apiKey(); nobody by default. */
  auth?: Auth
  /** The language of messages and plan names: en, fr, es or it. A browser sends its own without it. */
  locale?: string | (() => string | undefined)
}

/** Returns a client of a service. */
export function createClient({ baseUrl, auth = nobody(), locale, ...sending }: ClientOptions): Tenantry {
  const base = baseUrl.replace(/\/+$/, '')
  const send = sender(sending)
  const raw = createFetchClient<paths>({ baseUrl: base })

  const call = async (method: Uppercase<Method>, path: string, init: Init = {}): Promise<unknown> => {
    let answered = false
    const fetch = async (request: Request) => {
      const language = typeof locale === 'function' ? locale() : locale
      if (language) request.headers.set('Accept-Language', language)
      const response = await auth.fetch(request, send, base)
      answered = true
      return response
    }
    let result: { data?: unknown; error?: unknown; response: Response }
    try {
      result = await (raw[method] as LooseCall)(path, { ...init, fetch })
    } catch (error) {
      // A body that breaks off or comes too late; whoever ends a call on purpose gets their own reason.
      if (!answered || error instanceof TenantryError || init.signal?.aborted) throw error
      throw unanswered(error)
    }
    if (!result.response.ok) throw refused(result.response, result.error)
    return result.data
  }

  async function* each(path: string, init: Init = {}): AsyncGenerator<unknown, void> {
    let query = init.params?.query
    for (;;) {
      const { data, meta } = (await call('GET', path, { ...init, params: { ...init.params, query } })) as Page
      yield* data
      if (meta?.next_cursor) query = { ...query, cursor: meta.next_cursor }
      else if (meta?.current_page && meta.last_page && meta.current_page < meta.last_page) query = { ...query, page: meta.current_page + 1 }
      else return
    }
  }

  const methods = Object.fromEntries(
    (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => [method, (path: string, init?: Init) => call(method, path, init)]),
  )
  return { ...methods, each, baseUrl: base } as unknown as Tenantry
}

/** The parts of an input that are looked at here. */
interface Init {
  params?: { query?: Record<string, unknown> | undefined }
  signal?: AbortSignal | null
}

type LooseCall = (path: string, init: object) => Promise<{ data?: unknown; error?: unknown; response: Response }>

interface Page {
  data: unknown[]
  meta?: { next_cursor?: string | null; current_page?: number; last_page?: number }
}
