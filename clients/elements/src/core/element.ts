import { html, nothing, svg, type TemplateResult } from 'lit-html'
import { shared } from '../texts/shared'
import { ApiError, Client, type GetToken } from './client'
import { formats, type Formats } from './format'
import { Reactive, type Property } from './reactive'
import { languageOf, write, type Language, type Message } from './texts'

/** What a template may have. */
export type Content = TemplateResult | string | typeof nothing | undefined | Content[]

/** The values of a form by the names of its fields. */
export type Values = Record<string, string>

/** A form as its fields see it. */
export interface FormState {
  name: string
  busy: boolean
  error?: unknown
}

/** A question or a short form above the page. */
export interface Dialog {
  title: string
  body: (state: FormState) => Content
  /** What the button says. Without it there is nothing to send. */
  action?: () => string
  /** Label of the button that closes the dialog, by default Cancel or Close. */
  dismiss?: string
  danger?: boolean
  wide?: boolean
  submit?: (values: Values) => Promise<unknown>
}

const icons = {
  check: svg`<path d="M3 8.5 6.5 12 13 4.5"/>`,
  alert: svg`<path d="M8 2 14.5 13.5h-13zM8 6.5v3M8 11.5v.01"/>`,
  info: svg`<path d="M8 14.25A6.25 6.25 0 1 0 8 1.75a6.25 6.25 0 0 0 0 12.5zM8 7.5v3.5M8 5v.01"/>`,
  clock: svg`<path d="M8 14.25A6.25 6.25 0 1 0 8 1.75a6.25 6.25 0 0 0 0 12.5zM8 4.75V8l2.25 1.5"/>`,
  off: svg`<path d="M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM5.5 8h5"/>`,
}

export type Icon = keyof typeof icons

export function icon(name: Icon): TemplateResult {
  return html`<svg viewBox="0 0 16 16" aria-hidden="true">${icons[name]}</svg>`
}

/** A state in a word, with a shape beside it. */
export function status(tone: 'good' | 'wait' | 'warn' | 'bad' | 'off', text: string): TemplateResult {
  const shape = { good: 'check', wait: 'clock', warn: 'alert', bad: 'alert', off: 'off' } as const
  return html`<span class="st ${tone}">${icon(shape[tone])}${text}</span>`
}

/** The service that served this script at /elements/v1/, or none where the page has a copy of its own. */
const servedBy = /^(.*)\/elements\/v1\/[\w-]+\.js$/.exec(import.meta.url.split(/[?#]/)[0]!)?.[1]

/** The page's other elements read again when one of them has changed something. */
const changed = 'tenantry-changed'

/**
 * What the elements have in common: the connection, the language, reading, forms and dialogs.
 * Data is what an element reads before it can show itself.
 */
export abstract class TenantryElement<Data = unknown> extends Reactive {
  static override properties: Record<string, Property> = {
    api: { attribute: 'api' }, headingLevel: { type: 'number', attribute: 'heading-level' }, signInUrl: { attribute: 'sign-in-url' },
    token: {}, getToken: {}, data: {}, failure: {}, said: {}, dialog: {},
  }

  /** The service's address, where the script does not come from it and the page neither. */
  declare api?: string
  declare headingLevel?: number
  declare signInUrl?: string
  /** An access token, for a page without the login's cookie. */
  declare token?: string
  declare getToken?: GetToken
  declare protected data?: Data
  declare protected failure?: unknown
  declare protected said?: string
  declare protected dialog?: Dialog

  readonly client = new Client(() => ({ base: this.base, locale: this.language, getToken: this.tokens }))
  format: Formats = formats('en')
  language: Language = 'en'

  private readonly sending = new Map<string, FormState>()
  private round = 0
  private shown = false
  private watcher?: MutationObserver
  private opener?: Element | null

  /** Reads what the element shows. */
  protected abstract read(): Promise<Data>
  /** Shows what was read. */
  protected abstract show(data: Data): Content
  /** The heading while nothing is read. */
  protected abstract heading(): string

  connectedCallback(): void {
    this.speak()
    this.watcher = new MutationObserver(() => this.speak() && void this.reload())
    this.watcher.observe(document.documentElement, { attributes: true, attributeFilter: ['lang'] })
    document.addEventListener(changed, this.others)
    document.addEventListener('visibilitychange', this.seen)
    this.requestUpdate()
    void this.reload()
  }

  disconnectedCallback(): void {
    this.watcher?.disconnect()
    document.removeEventListener(changed, this.others)
    document.removeEventListener('visibilitychange', this.seen)
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    super.attributeChangedCallback(name, old, value)
    if (name === 'lang' && this.isConnected && this.speak()) void this.reload()
  }

  protected override updated(properties: Set<string>): void {
    // A page may give the address or the token after the element is there.
    if (this.shown && ['api', 'token', 'getToken'].some((one) => properties.has(one))) void this.reload()
    this.shown = true
    if (properties.has('dialog')) this.place()
    if (properties.has('said') && this.said) this.root.querySelector('.said')!.scrollIntoView({ block: 'nearest' })
  }

  /** Reads everything again. What is shown stays until then. */
  async reload(): Promise<void> {
    const round = ++this.round
    try {
      const data = await this.read()
      if (round !== this.round) return
      this.data = data
      this.failure = undefined
    } catch (error) {
      if (round !== this.round) return
      this.failure = error
      if (error instanceof ApiError && error.status === 401) this.data = undefined
      this.tell(error)
    }
  }

  private readonly others = (event: Event) => {
    if (event.target !== this) void this.reload()
  }

  private readonly seen = () => {
    if (document.visibilityState === 'visible' && !this.dialog) void this.reload()
  }

  private get base(): string {
    return new URL(this.api ?? servedBy ?? location.origin, document.baseURI).href.replace(/\/$/, '')
  }

  /** Reports whether requests have a token: what a link leads to has none. */
  protected get usesToken(): boolean {
    return this.tokens !== undefined
  }

  private get tokens(): GetToken | undefined {
    return this.getToken ?? (this.token ? () => this.token : undefined)
  }

  /** Takes the language of the element, or of what it stands in. Reports whether it is another one. */
  private speak(): boolean {
    const language = languageOf(this.getAttribute('lang')) ?? languageOf(this.closest('[lang]')?.getAttribute('lang')) ?? languageOf(document.documentElement.lang) ?? 'en'
    if (language === this.language) return false
    this.language = language
    this.format = formats(language)
    this.requestUpdate()
    return true
  }

  /** Writes a message in the reader's language. */
  readonly t = (message: Message, values?: Record<string, string | number>): string => write(this.language, message, values)

  /** The service's address of something, such as a document. */
  protected address(path: string): string {
    return this.base + path
  }

  /** Reports an event to the page. Returns false where the page wants to do the rest itself. */
  protected emit(name: string, detail: object, cancelable = false): boolean {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable }))
  }

  private tell(error: unknown): void {
    const { status = -1, code, message } = error as Partial<ApiError>
    this.emit('tenantry-error', { status, code: code ?? null, message: String(message ?? error) })
  }

  /** Does something that changes data, reads again, says so here and to the page. */
  async change<T>(what: string, act: () => Promise<T>, said?: string): Promise<T> {
    const answer = await act()
    await this.reload()
    this.said = said
    this.emit(changed, { what })
    return answer
  }

  /** Runs what a button or form does: once at a time, its refusal kept under its name. */
  protected async run(name: string, act: () => Promise<unknown>): Promise<boolean> {
    if (this.sending.get(name)?.busy) return false
    this.said = undefined
    this.sending.set(name, { name, busy: true })
    this.requestUpdate()
    try {
      await act()
      this.sending.delete(name)
      return true
    } catch (error) {
      this.sending.set(name, { name, busy: false, error })
      this.tell(error)
      return false
    } finally {
      this.requestUpdate()
    }
  }

  protected stateOf(name: string): FormState {
    return this.sending.get(name) ?? { name, busy: false }
  }

  // Pieces of what is shown.

  protected button(text: string, act: () => unknown, { look = '', part = 'button', busy = false, label }: { look?: string; part?: string; busy?: boolean; label?: string } = {}): TemplateResult {
    return html`<button type="button" class="btn ${look}" part="${part}" aria-label=${label ?? nothing} aria-busy=${busy || nothing} aria-disabled=${busy || nothing}
      @click=${() => !busy && act()}>${text}</button>`
  }

  /** A button that does something at once; a refusal is told in a dialog. */
  protected doing(name: string, text: string, act: () => Promise<unknown>, options: { look?: string; part?: string; label?: string; failed?: string } = {}): TemplateResult {
    const start = async () => {
      if (!(await this.run(name, act)) && this.stateOf(name).error) {
        const { error } = this.stateOf(name)
        this.sending.delete(name)
        this.ask({ title: options.failed ?? this.t(shared.failed), body: () => this.problem(error) })
      }
    }
    return this.button(text, start, { ...options, busy: this.stateOf(name).busy })
  }

  protected submit(state: FormState, text: string, look = 'primary'): TemplateResult {
    return html`<button type="submit" class="btn ${look}" part="button ${look.split(' ')[0]!}" aria-busy=${state.busy || nothing} aria-disabled=${state.busy || nothing}>${text}</button>`
  }

  protected form(name: string, send: (values: Values) => Promise<unknown>, content: (state: FormState) => Content): TemplateResult {
    const state = this.stateOf(name)
    const submit = async (event: SubmitEvent) => {
      event.preventDefault()
      const form = event.currentTarget as HTMLFormElement
      const values = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value)]))
      const done = await this.run(name, () => send(values))
      await this.updateComplete
      if (!done) form.querySelector<HTMLElement>('[aria-invalid]')?.focus()
      else if (form.isConnected) form.reset()
    }
    // What belongs to no field of the form stands above it.
    const { error } = state
    const inner = content(state)
    const known = error instanceof ApiError && Object.keys(error.fields).some((one) => this.root.querySelector(`form[name="${name}"] [name="${CSS.escape(one)}"]`))
    return html`<form class="stack" name=${name} novalidate @submit=${submit}>${error && !known ? this.problem(error) : nothing}${inner}</form>`
  }

  protected field(state: FormState, name: string, label: string, { help, type = 'text', value = '', complete = 'off', focus = false, options, rows }: {
    help?: string; type?: string; value?: string; complete?: string; focus?: boolean; options?: [string, string][]; rows?: number
  } = {}): TemplateResult {
    const message = state.error instanceof ApiError ? state.error.fields[name]?.[0] : undefined
    const id = `${state.name}-${name}`
    const below = message || help ? `${id}-below` : nothing
    const bad = message ? 'true' : nothing
    const input = options
      ? html`<select class="input" part="input" id=${id} name=${name} aria-invalid=${bad} aria-describedby=${below}>
          ${options.map(([key, text]) => html`<option value=${key} ?selected=${key === value}>${text}</option>`)}</select>`
      : rows
        ? html`<textarea class="input" part="input" id=${id} name=${name} rows=${rows} maxlength="500" aria-invalid=${bad} aria-describedby=${below}></textarea>`
        : html`<input class="input" part="input" id=${id} name=${name} type=${type} value=${value} autocomplete=${complete as 'off'} ?autofocus=${focus} aria-invalid=${bad} aria-describedby=${below} />`
    return html`<div class="field" part="field"><label for=${id}>${label}</label>${input}
      ${message ? html`<p class="error" id=${below}>${icon('alert')}${message}</p>` : help ? html`<p class="help" id=${below}>${help}</p>` : nothing}</div>`
  }

  note(tone: '' | 'good' | 'warn' | 'bad', title: Content, text?: Content, actions?: Content, mark?: Icon): TemplateResult {
    return html`<div class="note ${tone}" part="note" role=${tone === 'bad' ? 'alert' : nothing}>${icon(mark ?? (tone === 'good' ? 'check' : tone ? 'alert' : 'info'))}
      <p>${title ? html`<b>${title}</b>` : nothing}${text}</p>${actions ? html`<div class="acts">${actions}</div>` : nothing}</div>`
  }

  protected empty(title: string, text: Content, actions?: Content, below = 1): TemplateResult {
    return html`<div class="empty" part="empty">${this.headed(title, below)}<p>${text}</p>${actions ? html`<div class="acts">${actions}</div>` : nothing}</div>`
  }

  protected headed(text: Content, below = 0): TemplateResult {
    return html`<div class="h ${below ? 'sub' : ''}" part="heading" role="heading" aria-level=${(this.headingLevel ?? 2) + below} tabindex=${below ? nothing : -1}>${text}</div>`
  }

  /** Why something failed, in the person's words, with another attempt where it may help. */
  protected problem(error: unknown, retry?: () => unknown): TemplateResult {
    const [title, text] = ((): [string?, string?] => {
      if (!(error instanceof ApiError)) return [this.t(shared.wrong), this.t(shared.wrongText)]
      if (error.status === 0) return [this.t(shared.offline), this.t(shared.offlineText)]
      if (error.status === 429) return [this.t(shared.tooMany), error.retryAfter ? this.t(shared.waitSeconds, { count: error.retryAfter }) : this.t(shared.waitMoment)]
      if (error.status >= 500) return [this.t(shared.down), this.t(shared.downText)]
      if (error.status === 403) return [this.t(shared.mayNot), error.message]
      return [undefined, Object.values(error.fields)[0]?.[0] ?? error.message]
    })()
    return this.note('bad', title, text, retry && this.button(this.t(shared.retry), retry, { look: 's' }))
  }

  /** Opens a dialog. */
  ask(dialog: Dialog): void {
    if (!this.dialog) this.opener = this.root.activeElement
    this.sending.delete('dialog')
    this.dialog = dialog
  }

  protected close(): void {
    this.dialog = undefined
  }

  private place(): void {
    const box = this.root.querySelector('dialog')
    if (!box) return
    if (this.dialog && !box.open) box.showModal()
    if (!this.dialog && box.open) {
      box.close()
      // What opened it may be gone, such as the row of who was removed.
      if (this.opener?.isConnected) (this.opener as HTMLElement).focus()
      else this.root.querySelector<HTMLElement>('.h[tabindex]')?.focus()
    }
  }

  private dialogBox(): TemplateResult {
    const { dialog } = this
    const inner = () => {
      if (!dialog) return nothing
      const acts = (state: FormState) => html`<div class="acts">
        ${this.button(dialog.dismiss ?? this.t(dialog.submit ? shared.cancel : shared.close), () => this.close())}
        ${dialog.submit && dialog.action ? this.submit(state, dialog.action(), dialog.danger ? 'danger solid' : 'primary') : nothing}</div>`
      const send = async (values: Values) => {
        await dialog.submit?.(values)
        if (this.dialog === dialog) this.close()
      }
      return html`${dialog.title ? html`<div class="h" id="title" role="heading" aria-level="2">${dialog.title}</div>` : nothing}
        ${dialog.submit ? this.form('dialog', send, (state) => [dialog.body(state), acts(state)]) : html`<div class="stack">${dialog.body(this.stateOf('dialog'))}${acts(this.stateOf('dialog'))}</div>`}`
    }
    return html`<dialog part="dialog" class=${dialog?.wide ? 'wide' : nothing} aria-labelledby=${dialog?.title ? 'title' : nothing} aria-label=${dialog?.title ? nothing : this.heading()} @close=${() => this.close()}>${inner()}</dialog>`
  }

  private inside(): Content {
    const { data, failure } = this
    if (failure instanceof ApiError && failure.status === 401) {
      return html`<div class="head">${this.headed(this.heading())}</div>${this.empty(this.t(shared.signInTitle), this.t(shared.signInText),
        this.signInUrl ? html`<a class="btn primary" part="button primary" href=${this.signInUrl}>${this.t(shared.signIn)}</a>` : undefined)}`
    }
    if (data === undefined && failure !== undefined) return html`<div class="head">${this.headed(this.heading())}</div>${this.problem(failure, () => this.reload())}`
    if (data === undefined) return html`<div class="skel" role="status" aria-label=${this.t(shared.loading)}><i></i><i></i><i></i><i></i><i></i></div>`
    return html`${failure === undefined ? nothing : html`<div class="said">${this.problem(failure, () => this.reload())}</div>`}${this.show(data)}`
  }

  protected override render(): TemplateResult {
    return html`<div class="body" part="body" lang=${this.language}>
      <div class="said" role="status">${this.said ? this.note('good', this.said) : nothing}</div>${this.inside()}</div>${this.dialogBox()}`
  }
}

/** Names an element's class, unless the page has one by this name already. */
export function define(name: string, of: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, of)
}
