// What a page sees of the elements. docs/elements.md describes it.

/** What all elements have. */
export interface TenantryElement extends HTMLElement {
  /** The service's address, where the script does not come from it. */
  api?: string
  /** An access token, for a page without the login's cookie. */
  token?: string
  /** Returns an access token; after a refusal it is asked again, with refused set. */
  getToken?: (refused: boolean) => string | null | undefined | Promise<string | null | undefined>
  /** The level of the element's heading, 2 without it. */
  headingLevel?: number
  /** Where somebody signs in. */
  signInUrl?: string
  /** Resolves when what was set is shown. */
  readonly updateComplete: Promise<void>
  /** Reads everything again. */
  reload(): Promise<void>
}

export interface TenantryPricing extends TenantryElement {
  plans?: string
  product?: string
  currency?: string
  interval?: string
  checkoutUrl?: string
  anonymous: boolean
}

export interface TenantryTeam extends TenantryElement {
  plansUrl?: string
}

export interface TenantryBilling extends TenantryElement {
  plansUrl?: string
  returnUrl?: string
}

export interface TenantryUsage extends TenantryElement {
  meters?: string
  refresh?: number
  plansUrl?: string
}

export type TenantryAccount = TenantryElement

/** A plan was chosen. Where preventDefault is called, the page does the rest. */
export type TenantryChoose = CustomEvent<{ plan: string; plan_id: string; interval: string; currency: string; price_cents: number; url: string | null }>

/** An element has changed something of the tenant or the account. */
export type TenantryChanged = CustomEvent<{ what: 'subscription' | 'invoice' | 'team' | 'account' }>

/** A request was refused; status is 0 without a connection and -1 for an error of the element's own. */
export type TenantryError = CustomEvent<{ status: number; code: string | null; message: string }>

declare global {
  interface HTMLElementTagNameMap {
    'tenantry-pricing': TenantryPricing
    'tenantry-team': TenantryTeam
    'tenantry-billing': TenantryBilling
    'tenantry-usage': TenantryUsage
    'tenantry-account': TenantryAccount
  }
  interface HTMLElementEventMap {
    'tenantry-choose': TenantryChoose
    'tenantry-changed': TenantryChanged
    'tenantry-error': TenantryError
  }
}
