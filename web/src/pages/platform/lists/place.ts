import { pageOf } from '../../../app/filters'
import type { Params } from './reads'

export type Search = Record<string, string | undefined>

/** The numbers of rows per page. The first is the default. */
export const rowCounts = [20, 50, 100]

/** Returns the page, the number of rows and the order of a list in the address. */
export function placeOf(search: Search, orders: readonly string[]): Params {
  const rows = rowCounts.find((one) => String(one) === search.rows) ?? rowCounts[0]!
  const sort = search.sort && orders.includes(search.sort) ? search.sort : undefined
  return { page: pageOf(search), per_page: rows, sort }
}

/** Returns the text to search for. The service requires two characters. */
export function soughtIn(search: Search): string | undefined {
  const text = search.search?.trim() ?? ''
  return text.length > 1 ? text : undefined
}

/** The parameters of the address that are not filters: the place in the list, and an open dialog. */
const places = new Set(['page', 'rows', 'sort', 'do'])

/** Returns the filters of an address, without the page and the order. */
export function filtersIn(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([name, value]) => value !== undefined && !places.has(name)))
}

/** Reports whether two addresses have the same filters. */
export function isSame(a: Search, b: Search): boolean {
  const [one, other] = [filtersIn(a), filtersIn(b)]
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

/** Prefixes filters for a request: filter[name]. */
export function filterParams(filters: Search): Params {
  return Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[`filter[${name}]`, value]])))
}
