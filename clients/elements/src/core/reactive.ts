import { render, type TemplateResult } from 'lit-html'

/** A property that shows the element anew when it is set. */
export interface Property {
  /** The attribute that sets it; none for what only scripts set. */
  attribute?: string
  type?: 'number' | 'boolean'
}

type Values = Record<string, unknown>

/**
 * A custom element whose template is rendered after its properties were set, once for all that were
 * set together. (Lit's own base class does more than the elements need, and is a seventh of the size
 * that they may have.)
 */
export abstract class Reactive extends HTMLElement {
  static properties: Readonly<Record<string, Property>> = {}
  static styles = ''
  private static sheet?: CSSStyleSheet

  readonly root = this.attachShadow({ mode: 'open' })
  /** Resolves when what was set is shown. */
  updateComplete: Promise<void> = Promise.resolve()
  private rendering = false
  private readonly fresh = new Set<string>()
  private readonly values: Values = {}

  constructor() {
    super()
    const of = this.constructor as typeof Reactive
    if (!Object.hasOwn(of, 'sheet')) {
      of.sheet = new CSSStyleSheet()
      of.sheet.replaceSync(of.styles)
    }
    this.root.adoptedStyleSheets = [of.sheet!]
    for (const name of Object.keys(of.properties)) {
      // A page may have set it before the script was there.
      const early = Object.getOwnPropertyDescriptor(this, name)?.value as unknown
      Object.defineProperty(this, name, {
        get: () => this.values[name],
        set: (value) => {
          if (this.values[name] === value) return
          this.values[name] = value
          this.fresh.add(name)
          this.requestUpdate()
        },
      })
      if (early !== undefined) (this as unknown as Values)[name] = early
    }
  }

  static get observedAttributes(): string[] {
    return ['lang', ...Object.values(this.properties).flatMap(({ attribute }) => attribute ?? [])]
  }

  attributeChangedCallback(attribute: string, _old: string | null, text: string | null): void {
    for (const [name, one] of Object.entries((this.constructor as typeof Reactive).properties)) {
      if (one.attribute !== attribute) continue
      const value = one.type === 'boolean' ? text !== null : text === null ? undefined : one.type === 'number' ? Number(text) : text
      ;(this as unknown as Values)[name] = value
    }
  }

  /** Renders after what runs now, once. */
  requestUpdate(): void {
    if (this.rendering) return
    this.rendering = true
    this.updateComplete = Promise.resolve().then(() => {
      this.rendering = false
      const set = new Set(this.fresh)
      this.fresh.clear()
      render(this.render(), this.root, { host: this })
      this.updated(set)
    })
  }

  protected abstract render(): TemplateResult

  /** Is called when it is shown, with the names of the properties that were set. */
  protected abstract updated(set: Set<string>): void
}
