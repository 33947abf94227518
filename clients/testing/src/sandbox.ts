import { randomBytes } from 'node:crypto'
import { call, eventually, form } from './http.js'
import { start, type StartOptions } from './program.js'

/** Cards of the sandbox, by what becomes of a payment with them. */
export const cards = {
  /** Pays. */
  pays: '4242424242424242',
  /** Is declined. */
  declined: '4000000000000002',
  /** Pays at checkout, and fails when its owner is away: at the renewal. */
  failsLater: '4000000000000341',
  /** Asks its owner to confirm each payment. */
  confirms: '4000002760003184',
} as const

/** A mail that the service has sent. */
export interface Mail {
  id: string
  to: string
  subject: string
  text: string
  html: string
  sent_at: string
  /** The addresses in its text, in their order. */
  links: string[]
}

/** Somebody who owns an organization. */
export interface Owner {
  email: string
  password: string
  name: string
  tenantId: string
  accessToken: string
  refreshToken: string
}

/** What an owner is made with. */
export interface OwnerOptions {
  email?: string
  name?: string
  organization?: string
  /** The slug of a plan to buy, such as `starter`. By default the plan `free` applies, which needs no purchase. */
  plan?: string
  /** The card to pay with; one that pays by default. */
  card?: string
  currency?: string
  /** Whether the email is verified, which some settings ask for; false by default. */
  verified?: boolean
  /** How many seats are bought, of a plan that is paid by seat. */
  seats?: number
}

/** A webhook that an endpoint of the sandbox has received. */
export interface ReceivedWebhook {
  id: string
  headers: Record<string, string>
  body: { type: string; timestamp: string; tenant_id: string | null; data: unknown }
  /** Whether a secret of the endpoint has signed it. */
  signature_valid: boolean
  received_at: string
}

/** Starts Tenantry with its sandbox: a payment provider, a mailbox, an identity provider and a clock. */
export async function startSandbox(options: StartOptions = {}): Promise<Sandbox> {
  const key = options.settings?.TENANTRY_STRIPE_SECRET_KEY ?? `sk_test_${randomBytes(16).toString('hex')}`
  const running = await start(key, options)
  return new Sandbox(running.url, key, running.log, running.stop)
}

/** Tenantry with its sandbox, until it is stopped. */
export class Sandbox implements AsyncDisposable {
  /** An administrator of the platform. */
  readonly admin = { email: 'admin@tenantry.test', password: 'sandbox-admin' }
  /** The owner of the organization Acme, which has the plan `starter`. */
  readonly demoOwner = { email: 'owner@acme.test', password: 'sandbox-owner' }

  /** Made by startSandbox(). */
  constructor(
    /** Where the service is, without a slash at the end. */
    readonly url: string,
    /** The secret key of the payment provider, whose API is below `/sandbox/stripe`. */
    readonly stripeKey: string,
    /** Returns what the service has logged: the last million letters of it. */
    readonly log: () => string,
    /** Stops the service and deletes its data. */
    readonly stop: () => Promise<void>,
  ) {}

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Returns the time of the service. */
  async now(): Promise<Date> {
    const { data } = await call<{ data: { now: string } }>('GET', `${this.url}/sandbox/clock`)
    return new Date(data.now)
  }

  /**
   * Lets time pass: trials end, subscriptions renew, invitations expire. Takes a duration such as
   * `90m` or `720h`, or the moment to go to, which cannot be in the past.
   */
  async advance(by: string | Date): Promise<Date> {
    const body = typeof by === 'string' ? { advance: by } : { to: by.toISOString() }
    const { data } = await call<{ data: { now: string } }>('POST', `${this.url}/sandbox/clock`, body)
    return new Date(data.now)
  }

  /** Returns the mails to an address, the newest first; all without one. */
  async mails(to?: string): Promise<Mail[]> {
    const { data } = await call<{ data: Omit<Mail, 'links'>[] }>('GET', `${this.url}/sandbox/mail/messages`)
    const all = data.map((mail) => ({ ...mail, links: mail.text.match(/https?:\/\/[^\s<>"]+/g) ?? [] }))
    return all.filter((mail) => to === undefined || mail.to === to)
  }

  /** Waits for a mail to an address whose subject or text matches, and returns the newest. */
  async mail(to: string, pattern: RegExp = /(?:)/, timeout = 10_000): Promise<Mail> {
    return eventually(`mail to ${to} with ${pattern}`, timeout, async () =>
      (await this.mails(to)).find(({ subject, text }) => pattern.test(subject) || pattern.test(text)),
    )
  }

  /** Makes an account that owns an organization with billing details. */
  async createOwner(options: OwnerOptions = {}): Promise<Owner> {
    const { name = 'Ada Lovelace', email = `owner-${randomBytes(6).toString('hex')}@example.test`, organization = 'Example' } = options
    const password = randomBytes(12).toString('base64url')
    const login = await call<{ accessToken: string; refreshToken: string }>('POST', `${this.url}/api/v1/auth/register`, {
      name, email, password, password_confirmation: password, create_tenant: true, tenant_name: organization,
    })
    const bearer = `Bearer ${login.accessToken}`
    const { currentTenant } = await call<{ currentTenant: { id: string } }>('GET', `${this.url}/api/v1/auth/me`, undefined, bearer)
    await call('PATCH', `${this.url}/api/v1/onboarding/complete-setup`, {
      legal_name: organization, address: '1 Test Street', city: 'Vienna', postal_code: '1010', country: 'AT',
    }, bearer)
    const owner = { email, password, name, tenantId: currentTenant.id, accessToken: login.accessToken, refreshToken: login.refreshToken }
    if (options.verified) await this.#verify(owner)
    if (options.plan) await this.subscribe(owner, options.plan, options)
    return owner
  }

  async #verify({ email, accessToken }: Owner): Promise<void> {
    await call('POST', `${this.url}/api/v1/user/email/verification`, undefined, `Bearer ${accessToken}`)
    const { links } = await this.mail(email, /verify-email\?token=/)
    const token = links.map((link) => new URL(link).searchParams.get('token')).find(Boolean)
    await call('POST', `${this.url}/api/v1/auth/verify-email`, { token })
  }

  /**
   * Buys a plan for the organization of an owner, and waits until the subscription is there. The
   * default plan `free` needs no purchase: it applies without a subscription.
   */
  async subscribe(
    { tenantId, accessToken }: Pick<Owner, 'tenantId' | 'accessToken'>,
    slug: string,
    { card = cards.pays, currency = 'EUR', seats = 1 }: Pick<OwnerOptions, 'card' | 'currency' | 'seats'> = {},
  ): Promise<void> {
    const tenant = `${this.url}/api/v1/tenant/${tenantId}`
    const bearer = `Bearer ${accessToken}`
    const { data: plans } = await call<{ data: { id: string; slug: string; pricing_type: string; is_default: boolean }[] }>('GET', `${tenant}/plans`, undefined, bearer)
    const plan = plans.find((one) => one.slug === slug)
    if (!plan) throw new Error(`There is no plan ${slug}, but ${plans.map((one) => one.slug).join(', ')}.`)
    const subscription = async () => (await call<{ data: unknown }>('GET', `${tenant}/subscription`, undefined, bearer)).data ?? undefined
    if (plan.is_default && !(await subscription())) return
    const { data } = await call<{ data: { url: string } }>('POST', `${tenant}/checkout`, {
      plan_id: plan.id, currency, ...(plan.pricing_type === 'seat' && { quantity: seats }), success_url: this.url, cancel_url: this.url,
    }, bearer)
    await this.pay(data.url, card)
    await eventually('subscription', 10_000, subscription)
  }

  /** Pays at a page of the sandbox: a checkout or an invoice. A declined card is an error. */
  async pay(page: string, card: string = cards.pays): Promise<void> {
    await form(page, { card_number: card })
  }

  /**
   * Gives an organization a card whose payments fail from now on: the next renewal does, after
   * advance(). allowPayments() gives back one that pays.
   */
  async failPayments(tenantId: string): Promise<void> {
    await this.#usePaymentMethod(tenantId, 'pm_card_chargeCustomerFail')
  }

  /** Gives an organization a card that pays. */
  async allowPayments(tenantId: string): Promise<void> {
    await this.#usePaymentMethod(tenantId, 'pm_card_visa')
  }

  async #usePaymentMethod(tenantId: string, card: string): Promise<void> {
    const subscriptions = await this.#stripe<{ id: string; customer: string; metadata: Record<string, string> }>('subscriptions?limit=100')
    const customers = await this.#stripe<{ id: string; metadata: Record<string, string> }>('customers?limit=100')
    const customer = customers.find((one) => one.metadata.tenant_id === tenantId)
    if (!customer) throw new Error(`The organization ${tenantId} has bought nothing yet.`)
    const stripe = `${this.url}/sandbox/stripe/v1`
    const bearer = `Bearer ${this.stripeKey}`
    const { id } = await form<{ id: string }>(`${stripe}/payment_methods/${card}/attach`, { customer: customer.id }, bearer)
    await form(`${stripe}/customers/${customer.id}`, { 'invoice_settings[default_payment_method]': id }, bearer)
    for (const subscription of subscriptions.filter((one) => one.customer === customer.id)) {
      await form(`${stripe}/subscriptions/${subscription.id}`, { default_payment_method: id }, bearer)
    }
  }

  /** Returns a list of the payment provider, all its pages. */
  async #stripe<T extends { id: string }>(list: string): Promise<T[]> {
    const all: T[] = []
    for (;;) {
      const after = all.length > 0 ? `&starting_after=${all.at(-1)?.id}` : ''
      const page = await call<{ data: T[]; has_more: boolean }>('GET', `${this.url}/sandbox/stripe/v1/${list}${after}`, undefined, `Bearer ${this.stripeKey}`)
      all.push(...page.data)
      if (!page.has_more) return all
    }
  }

  /** Makes an API key of the platform, which has its scopes in every organization. Returns the secret. */
  async createApiKey(scopes: string[], name = 'test'): Promise<string> {
    const { accessToken } = await call<{ accessToken: string }>('POST', `${this.url}/api/v1/auth/login`, this.admin)
    const { data } = await call<{ data: { secret: string } }>('POST', `${this.url}/api/v1/admin/api-keys`, { name, scopes }, `Bearer ${accessToken}`)
    return data.secret
  }

  /** Makes the payment provider misbehave until it is called again; `{}` ends it. The page `/sandbox/chaos` explains the values. */
  async chaos(settings: { webhooks?: Record<string, number>; api?: Record<string, number>; seed?: number }): Promise<void> {
    await call('PUT', `${this.url}/sandbox/stripe/chaos`, settings)
  }

  /** Returns the address of a webhook endpoint of the sandbox itself, to give to the service. */
  hook(name: string): string {
    return `${this.url}/sandbox/hooks/in/${name}`
  }

  /** Returns what webhook endpoints of the sandbox have received, the newest first. */
  async hooks(): Promise<ReceivedWebhook[]> {
    return (await call<{ data: ReceivedWebhook[] }>('GET', `${this.url}/sandbox/hooks/messages`)).data
  }
}
