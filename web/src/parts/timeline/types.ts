export interface Named {
  id: number | string
  name: string
}

/** A change of the trail, with the names that are known of what and who is in it. */
export interface Entry {
  id: string
  /** The action of the trail, such as member.role_changed. */
  type: string
  at: string
  tenant: Named | null
  actor: Named | null
  acting_as: Named | null
  api_key: Named | null
  resource_id: string
  /** The present name of what was changed, where it is known. */
  resource_name: string | undefined
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}
