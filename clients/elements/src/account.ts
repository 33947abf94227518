import { html, nothing } from 'lit-html'
import { ago } from './core/ago'
import { ApiError, type Schema } from './core/client'
import { define, status, TenantryElement, type Content, type Values } from './core/element'
import { account as texts } from './texts/account'
import { shared } from './texts/shared'
import base from './core/base.css'
import rows from './core/rows.css'
import own from './account.css'

interface Account {
  me: Schema<'Profile'>
  sessions: Schema<'LoginSession'>[]
}

const languages: [string, string][] = [['en', 'English'], ['fr', 'Français'], ['es', 'Español'], ['it', 'Italiano']]

/** <tenantry-account>: one's name, language, email and password, and where one is signed in. */
export class TenantryAccount extends TenantryElement<Account> {
  static override properties = { ...super.properties, asked: {}, sent: {} }
  static override styles = base + rows + own

  /** The address that was asked for and is not confirmed yet. */
  declare private asked?: string
  declare private sent?: boolean

  protected override heading(): string {
    return this.t(texts.account)
  }

  protected override async read(): Promise<Account> {
    const me = await this.client.get<Schema<'Profile'>>('/auth/me')
    if (me.impersonation?.is_impersonating) return { me, sessions: [] }
    return { me, sessions: (await this.client.get<{ data: Schema<'LoginSession'>[] }>('/user/sessions')).data }
  }

  protected override show({ me, sessions }: Account): Content {
    const head = html`<div class="head">${this.headed(this.t(texts.account))}</div>`
    if (me.impersonation?.is_impersonating) return [head, this.note('', this.t(texts.acting, { name: me.user.name }), this.t(texts.actingText))]
    const part = (title: string, content: Content, lead?: string) => html`<section class="two" part="section"><div>${this.headed(title, 1)}${lead ? html`<p class="help">${lead}</p>` : nothing}</div>${content}</section>`
    return [
      head,
      part(this.t(texts.you), this.nameForm(me)),
      part(this.t(texts.email), this.email(me)),
      part(this.t(texts.passwordTitle), this.passwordForm(me), this.t(texts.passwordLead)),
      this.sessions(sessions),
    ]
  }

  private nameForm({ user }: Schema<'Profile'>): Content {
    const save = ({ name = '', locale }: Values) =>
      this.change('account', () => this.client.call('PATCH', '/user', { name: name.trim(), locale: locale || null }), this.t(shared.saved))
    return this.form('name', save, (state) => [
      this.field(state, 'name', this.t(texts.name), { value: user.name, complete: 'name' }),
      this.field(state, 'locale', this.t(texts.language), { value: user.locale ?? '', help: this.t(texts.languageHelp), options: [['', this.t(texts.asOrg)], ...languages] }),
      this.submit(state, this.t(shared.save)),
    ])
  }

  private email({ user }: Schema<'Profile'>): Content {
    const prove = async () => {
      await this.client.call('POST', '/user/email/verification')
      this.sent = true
    }
    const change = async ({ email = '', current_password: password }: Values) => {
      const to = email.trim()
      await this.client.call('POST', '/user/email', { email: to, current_password: password || undefined })
      this.asked = to
    }
    const ask = () => this.ask({
      title: this.t(texts.changeEmail), action: () => this.t(texts.sendLink), submit: change,
      body: (state) => [
        this.field(state, 'email', this.t(texts.newEmail), { type: 'email', complete: 'email', focus: true }),
        this.field(state, 'current_password', this.t(texts.password), { type: 'password', complete: 'current-password' }),
      ],
    })
    return html`<div class="stack">
      <p class="line"><b>${user.email}</b>${user.email_verified ? status('good', this.t(texts.proved)) : status('warn', this.t(texts.notProved))}</p>
      <div role="status">${this.asked ? this.note('', this.t(texts.lookAt, { asked: this.asked }), this.t(texts.lookAtText, { name: user.email }))
        : this.sent ? this.note('', this.t(texts.look), this.t(texts.lookText)) : nothing}</div>
      <div class="acts">${user.email_verified || this.sent ? nothing : this.doing('prove', this.t(texts.prove), prove, { failed: this.t(texts.proveFailed) })}
        ${this.button(this.t(texts.changeEmail), ask)}</div></div>`
  }

  private passwordForm({ user }: Schema<'Profile'>): Content {
    const change = async ({ current_password: current, password = '', password_confirmation: again }: Values) => {
      if (password !== again) {
        const message = this.t(texts.same)
        throw new ApiError(422, message, undefined, { password_confirmation: [message] })
      }
      await this.change('account', () => this.client.call('PUT', '/user/password', { current_password: current || undefined, password, password_confirmation: again }), this.t(texts.changed))
    }
    return this.form('password', change, (state) => [
      // For the password managers, which keep a password by its name.
      html`<input type="hidden" autocomplete="username" value=${user.email} />`,
      this.field(state, 'current_password', this.t(texts.present), { type: 'password', complete: 'current-password', help: this.t(texts.presentHelp) }),
      this.field(state, 'password', this.t(texts.new), { type: 'password', complete: 'new-password', help: this.t(texts.newHelp) }),
      this.field(state, 'password_confirmation', this.t(texts.once), { type: 'password', complete: 'new-password' }),
      this.submit(state, this.t(texts.changePassword)),
    ])
  }

  private sessions(sessions: Schema<'LoginSession'>[]): Content {
    const endOthers = () => this.change('account', () => this.client.call('DELETE', '/user/sessions'), this.t(texts.othersDone))
    return html`<div class="sec"><div class="head">${this.headed(this.t(texts.where), 1)}
      ${sessions.length > 1 ? this.doing('others', this.t(texts.endOthers), endOthers, { look: 's', failed: this.t(texts.othersFailed) }) : nothing}</div>
      <ul class="rows" part="list">${sessions.map((one) => this.session(one))}</ul></div>`
  }

  private session(one: Schema<'LoginSession'>): Content {
    const device = deviceOf(one.user_agent)
    const end = () => this.change('account', () => this.client.call('DELETE', `/user/sessions/${one.id}`), this.t(texts.endDone))
    return html`<li part="row"><div><b>${device}</b><small>${[one.ip, one.kind === 'token' && this.t(texts.program)].filter(Boolean).join(', ')}</small></div>
      ${one.current ? status('good', this.t(texts.here)) : html`<span class="muted">${ago(this.language, one.last_used_at)}</span>
        ${this.doing(`end-${one.id}`, this.t(texts.endLogin), end, { look: 's', label: this.t(texts.endLabel, { device }), failed: this.t(texts.endFailed) })}`}</li>`
  }
}

/** Returns the browser and the system that a program says it is, or what it says. */
function deviceOf(agent: string): string {
  const find = (names: Record<string, string>) => Object.entries(names).find(([part]) => agent.includes(part))?.[1]
  const browser = find({ 'Edg/': 'Edge', 'OPR/': 'Opera', 'Firefox/': 'Firefox', 'Chrome/': 'Chrome', 'Safari/': 'Safari' })
  const system = find({ iPhone: 'iPhone', iPad: 'iPad', Android: 'Android', Windows: 'Windows', 'Mac OS': 'macOS', Linux: 'Linux' })
  return [browser, system].filter(Boolean).join(', ') || agent.split(' ')[0] || '?'
}

define('tenantry-account', TenantryAccount)
