import type { ReactNode } from 'react'
import type { IconName } from '../ui/Icon'

/** An entry of the search: an object, a page or an action. */
export interface Found {
  key: string
  group: string
  icon: IconName
  title: string
  subtitle?: string
  /** At the end of the row: the state of the object. */
  end?: ReactNode
  /** The path of the page; undefined for an action that happens here. */
  url?: string
  run?: () => void
}

/** Whose objects are searched: all tenants', or one tenant's. */
export type Scope = 'platform' | { tenantId: string }
