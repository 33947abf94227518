import { html, nothing } from 'lit-html'
import { ago } from './core/ago'
import { ApiError, type Schema } from './core/client'
import { define, status, TenantryElement, type Content, type Values } from './core/element'
import { firstLetter } from './core/format'
import { team as texts } from './texts/team'
import base from './core/base.css'
import rows from './core/rows.css'
import own from './team.css'

type Member = Schema<'TeamMember'>
type Invitation = Schema<'TeamInvitation'>

interface Team {
  me: Schema<'Profile'>
  tenant: Schema<'Tenant'>
  members: Member[]
  invitations: Invitation[]
  stats: Schema<'TeamStats'>
  roles: Schema<'TeamRole'>[]
}

/** What belongs to the address, though it is a code and no message of a field. */
const aboutEmail = new Set(['ALREADY_MEMBER', 'ALREADY_INVITED', 'USER_BELONGS_TO_ANOTHER_TENANT'])

/** <tenantry-team>: members, invitations and seats, with what the person may do about them. */
export class TenantryTeam extends TenantryElement<Team> {
  static override properties = { ...super.properties, plansUrl: { attribute: 'plans-url' } }
  static override styles = base + rows + own

  /** Where plans with more seats are. */
  declare plansUrl?: string

  protected override heading(): string {
    return this.t(texts.team)
  }

  protected override async read(): Promise<Team> {
    const [me, { data: tenant }] = await Promise.all([this.client.get<Schema<'Profile'>>('/auth/me'), this.client.get<{ data: Schema<'Tenant'> }>('/tenant')])
    const list = async <T>(path: string) => (await this.client.get<{ data: T }>(`/tenant/${tenant.id}/team/${path}`)).data
    const manages = tenant.user_permissions.some((one) => one === 'team.manage' || one === 'team.invite')
    const [members, invitations, stats, roles] = await Promise.all([
      list<Member[]>('members'), list<Invitation[]>('invitations'), list<Schema<'TeamStats'>>('stats'), manages ? list<Schema<'TeamRole'>[]>('roles') : [],
    ])
    return { me, tenant, members, invitations: invitations.filter((one) => one.status === 'pending' || one.status === 'expired'), stats, roles }
  }

  protected override show(data: Team): Content {
    const { tenant, stats, members, invitations } = data
    const invites = tenant.user_permissions.includes('team.invite')
    const invite = () => this.invite(data)
    return html`
      <div class="head"><div>${this.headed(this.t(texts.team))}<p class="muted">${this.t(texts.lead)}</p></div>
        ${invites ? this.button(this.t(texts.invite), invite, { look: 'primary', part: 'button primary' }) : nothing}</div>
      <p class="seats" part="seats">${this.seats(stats)}</p>
      ${stats.limit !== null && stats.total > stats.limit ? this.note('warn', this.t(texts.larger), this.t(texts.largerText), this.plans()) : nothing}
      <ul class="rows" part="list">${members.map((one) => this.member(one, data))}${invitations.map((one) => this.invitation(one, data, invites))}</ul>`
  }

  private plans(): Content {
    return this.plansUrl && html`<a class="btn s" part="button" href=${this.plansUrl}>${this.t(texts.see)}</a>`
  }

  private seats({ members, pending_invitations: invited, limit, total }: Schema<'TeamStats'>): Content {
    const people = this.t(texts.people, { count: members })
    const waiting = this.t(texts.invitations, { count: invited })
    const free = limit === null ? '' : `, ${this.t(texts.free, { count: Math.max(0, limit - total) })}`
    return html`<b>${limit === null ? this.t(texts.takenAll, { count: total }) : this.t(texts.taken, { count: total, limit })}</b>
      <span class="muted">${this.t(invited > 0 ? texts.byBoth : texts.by, { people, waiting })}${free}</span>`
  }

  /** Names the roles that every tenant has; a role of the tenant's own keeps its name. */
  private roleName(name: string): string {
    const known = { owner: texts.owner, admin: texts.admin, member: texts.member }[name]
    return known ? this.t(known) : name
  }

  private member(member: Member, { me, tenant, roles }: Team): Content {
    const self = member.id === me.user.id
    const owner = member.role.name === 'owner'
    const manages = tenant.user_permissions.includes('team.manage') && !self && !owner
    const known = roles.some((one) => one.id === member.role.id) ? roles : [member.role, ...roles]
    const path = `/tenant/${tenant.id}/team/members/${member.id}`
    const busy = this.stateOf(`role-${member.id}`).busy
    const assign = async (event: Event) => {
      const select = event.target as HTMLSelectElement
      const role = known.find((one) => one.id === Number(select.value))!
      const name = `role-${member.id}`
      const done = await this.run(name, () => this.change('team', () => this.client.call('PATCH', `${path}/role`, { role_id: role.id }),
        this.t(texts.isNow, { who: member.name, name: this.roleName(role.name) })))
      if (done) return
      select.value = String(member.role.id)
      const { error } = this.stateOf(name)
      this.ask({ title: this.t(texts.roleFailed), body: () => this.problem(error) })
    }
    const letters = member.name.trim().split(/\s+/).map(firstLetter).slice(0, 2).join('').toUpperCase()
    return html`<li part="row">
      <div class="person">${member.avatar ? html`<img class="av" src=${member.avatar} alt="" />` : html`<span class="av" aria-hidden="true">${letters}</span>`}
        <span><b>${member.name} ${self ? this.t(texts.you) : nothing}</b><small>${member.email}</small></span></div>
      <div class="how">${manages
        ? html`<select class="input select s" part="input" aria-label=${this.t(texts.roleOf, { name: member.name })} aria-busy=${busy || nothing} @change=${assign}>
            ${known.map((one) => html`<option value=${one.id} .selected=${one.id === member.role.id}>${this.roleName(one.name)}</option>`)}</select>`
        : this.roleName(member.role.name)}
        ${member.joined_at ? html`<small>${this.t(texts.since, { day: this.format.dayWithYear(member.joined_at) })}</small>` : nothing}</div>
      <div class="acts">${manages ? this.button(this.t(texts.remove), () => this.dismiss(member, path), { look: 's quiet danger', part: 'button', label: this.t(texts.removeDo, { name: member.name }) })
        : self && !owner ? this.button(this.t(texts.leave), () => this.quit(tenant), { look: 's quiet danger' }) : nothing}</div></li>`
  }

  private dismiss(member: Member, path: string): void {
    const { name } = member
    this.ask({
      title: this.t(texts.removeTitle, { name }), body: () => html`<p class="muted">${this.t(texts.removeText, { name })}</p>`, danger: true,
      action: () => this.t(texts.removeDo, { name }),
      submit: () => this.change('team', () => this.client.call('DELETE', path), this.t(texts.removed, { name })),
    })
  }

  private quit({ id, name }: Schema<'Tenant'>): void {
    this.ask({
      title: this.t(texts.leaveTitle, { name }), body: () => html`<p class="muted">${this.t(texts.leaveText)}</p>`, danger: true,
      action: () => this.t(texts.leaveDo, { name }), submit: () => this.change('team', () => this.client.call('POST', `/tenant/${id}/leave`)),
    })
  }

  private invitation(one: Invitation, { tenant }: Team, invites: boolean): Content {
    const { email } = one
    const path = `/tenant/${tenant.id}/team/invitations/${one.id}`
    const end = this.format.day(one.expires_at)
    const since = ago(this.language, one.created_at)
    const sent = one.inviter ? this.t(texts.invitedText, { by: one.inviter.name, since, end }) : this.t(texts.invitedSince, { since, end })
    const state = one.is_expired
      ? [status('off', this.t(texts.ended)), html`<small>${this.t(texts.endedText, { end })}</small>`]
      : [status('wait', this.t(texts.invited)), html`<small>${sent}</small>`]
    const resend = () => this.change('team', () => this.client.call('POST', `${path}/resend`), this.t(texts.againDone, { email }))
    const revoke = () => this.ask({
      title: this.t(texts.backTitle, { email }), body: () => html`<p class="muted">${this.t(texts.backText)}</p>`, danger: true,
      action: () => this.t(texts.back), submit: () => this.change('team', () => this.client.call('DELETE', path), this.t(texts.backDone, { email })),
    })
    return html`<li part="row">
      <div class="person"><span class="av open" aria-hidden="true">@</span><span><b>${email}</b><small>${this.roleName(one.role)}</small></span></div>
      <div class="how">${state}</div>
      <div class="acts">${invites ? [
        this.doing(`again-${one.id}`, this.t(texts.again), resend, { look: 's', label: `${this.t(texts.again)} ${email}`, failed: this.t(texts.againFailed) }),
        this.button(this.t(texts.back), revoke, { look: 's quiet danger', label: `${this.t(texts.back)} ${email}` }),
      ] : nothing}</div></li>`
  }

  private invite({ tenant, roles, stats }: Team): void {
    if (stats.available !== null && stats.available <= 0) {
      return this.ask({ title: this.t(texts.invite), body: () => this.note('warn', this.t(texts.full, { limit: stats.limit! }), this.t(texts.fullText), this.plans()) })
    }
    const send = async ({ email = '', role, expires_in_days: days }: Values) => {
      const to = email.trim()
      try {
        await this.change('team', () => this.client.call('POST', `/tenant/${tenant.id}/team/invitations`, { email: to, role, expires_in_days: days ? Number(days) : undefined }), this.t(texts.sent, { email: to }))
      } catch (error) {
        if (error instanceof ApiError && aboutEmail.has(error.code ?? '')) throw new ApiError(error.status, error.message, error.code, { email: [error.message] })
        throw error
      }
    }
    this.ask({
      title: this.t(texts.invite), action: () => this.t(texts.send), submit: send,
      body: (state) => [
        this.field(state, 'email', this.t(texts.email), { type: 'email', focus: true, help: this.t(texts.inviteHelp) }),
        this.field(state, 'role', this.t(texts.role), { value: 'member', options: roles.map((one) => [one.name, this.roleName(one.name)]) }),
        this.field(state, 'expires_in_days', this.t(texts.holds), {
          options: [['', this.t(texts.usual)], ...[1, 3, 7, 14, 30].map((day): [string, string] => [String(day), day === 1 ? this.t(texts.day1) : this.t(texts.daysN, { day })])],
        }),
      ],
    })
  }
}

define('tenantry-team', TenantryTeam)
