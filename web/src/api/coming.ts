import { api } from './client'

/** Reads a route that the description of the API does not have yet. */
export async function coming<T>(path: string, query: Record<string, string | number | undefined> = {}): Promise<T> {
  const get = api.GET as unknown as (path: string, init: object) => Promise<{ data: T }>
  return (await get(path, { params: { query } })).data
}
