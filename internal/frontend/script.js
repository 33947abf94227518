// The pages are clients of the API in cookie mode. What the API says is shown as it is: it
// answers in the language of the page.
'use strict'

const main = document.querySelector('main')
const { page, token, base, billing, forgot } = main.dataset
const texts = JSON.parse(main.dataset.texts)
const locale = document.documentElement.lang

// say returns a text with its variables.
const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')

// el makes an element; what is given as a text cannot become markup.
const el = (tag, props = {}, ...children) => {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value)
    else if (value !== undefined && value !== false) node.setAttribute(name, value)
  }
  node.append(...children.filter(Boolean))
  return node
}

// show replaces the page below its title.
const show = (title, ...children) => main.replaceChildren(el('h1', {}, title), ...children.filter(Boolean))

// call asks the API. What changes something repeats the token of the session in a header.
const call = async (method, path, body) => {
  const headers = { Accept: 'application/json', 'Accept-Language': locale }
  if (method !== 'GET') {
    const session = await fetch(base + '/csrf-cookie', { credentials: 'include' })
    headers['X-XSRF-TOKEN'] = session.headers.get('X-CSRF-Token')
    headers['Content-Type'] = 'application/json'
  }
  const answer = await fetch(base + path, { method, headers, credentials: 'include', body: body && JSON.stringify(body) })
  const data = answer.status === 204 ? {} : await answer.json().catch(() => ({}))
  return { ok: answer.ok, status: answer.status, data, message: data.message || say('page.failed') }
}

// form makes a form of fields {name, label, type, autocomplete, value}; send returns what the
// API answered, done is called when it took it.
const form = (fields, button, send, done) => {
  const alert = el('p', { class: 'alert', role: 'alert' })
  const submit = el('button', {}, button)
  const inputs = Object.fromEntries(fields.map((f) => [f.name, el('input', {
    name: f.name, type: f.type || 'text', autocomplete: f.autocomplete || 'off', value: f.value, readonly: f.readonly && '', required: '',
  })]))
  const node = el('form', {
    novalidate: '',
    onsubmit: async (event) => {
      event.preventDefault()
      submit.disabled = true
      alert.remove()
      node.querySelectorAll('small').forEach((hint) => hint.remove())
      const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value]))
      const answer = await send(values).catch(() => ({ ok: false, data: {}, message: say('page.failed') }))
      submit.disabled = false
      if (answer.ok) return done(answer, values)
      let first
      for (const [name, input] of Object.entries(inputs)) {
        const reason = answer.data.errors?.[name]?.[0]
        input.toggleAttribute('aria-invalid', Boolean(reason))
        if (!reason) continue
        input.after(el('small', {}, reason))
        first ??= input
      }
      if (first) return first.focus()
      alert.textContent = answer.message
      node.prepend(alert)
    },
  }, ...fields.map((f) => el('label', {}, f.label, inputs[f.name])), submit)
  return node
}

const email = { name: 'email', label: say('page.email'), type: 'email', autocomplete: 'username' }
const password = { name: 'password', label: say('page.password'), type: 'password', autocomplete: 'current-password' }
const fresh = [
  { name: 'password', label: say('page.new_password'), type: 'password', autocomplete: 'new-password' },
  { name: 'password_confirmation', label: say('page.repeat_password'), type: 'password', autocomplete: 'new-password' },
]

// login shows a form; then is called once the reader is logged in.
const login = async (title, then, note) => {
  const { data } = await call('GET', '/api/v1/auth/oauth/providers')
  const others = (data.providers || []).map((name) => el('a', {
    class: 'btn', href: `${base}/api/v1/auth/oauth/${name}/redirect`, onclick: () => sessionStorage.setItem('back', location.pathname),
  }, say('page.with', { provider: name[0].toUpperCase() + name.slice(1) })))
  show(title, note && el('p', {}, note), others.length > 0 && el('div', { class: 'stack' }, ...others), others.length > 0 && el('p', { class: 'or' }, say('page.or')),
    form([email, password], say('page.login'), (values) => call('POST', '/api/v1/auth/login', values), then),
    el('p', { class: 'below' }, el('a', { href: forgot }, say('page.forgot'))))
}

// tenant returns the profile and the reader's organization, or logs the reader in first.
const tenant = async (title, then) => {
  const me = await call('GET', '/api/v1/auth/me')
  if (me.status === 401) return login(title, () => tenant(title, then))
  if (!me.ok) return show(title, el('p', { class: 'alert', role: 'alert' }, me.message))
  const path = me.data.currentTenant && `/api/v1/tenant/${me.data.currentTenant.id}`
  return then(path, me.data)
}

const leave = () => el('p', { class: 'below' }, el('button', { onclick: async () => { await call('POST', '/api/v1/auth/logout', {}); location.reload() } }, say('page.logout')))
const day = (text) => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(text))
// digits are the decimals of a currency, as the service has them: a browser has others for HUF, IDR
// and more. What is not on the list is no longer offered, and has the decimals of ISO 4217.
const digits = { BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3 }
const money = (cents, currency) => {
  const decimals = digits[currency] ?? 2
  const options = { style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  return new Intl.NumberFormat(locale, options).format(cents / 10 ** decimals)
}

const pages = {
  async invitation() {
    const found = await call('GET', `/api/v1/invitations/${encodeURIComponent(token)}`)
    const title = say('page.title.invitation')
    if (!found.ok) return show(title, el('p', {}, found.message))
    const { tenant: to, inviter, email: invited } = found.data.data
    const heading = say('page.invitation.heading', { tenant: to.name })
    const note = say('page.invitation.text', { inviter: inviter?.name || to.name, tenant: to.name, address: invited })
    const accepted = () => show(heading, el('p', {}, say('page.invitation.done', { tenant: to.name })), el('a', { class: 'btn primary', href: billing }, say('page.to_billing')))
    const register = () => show(heading, el('p', {}, note),
      form([{ name: 'name', label: say('page.name'), autocomplete: 'name' }, { ...email, value: invited, readonly: true }, ...fresh], say('page.invitation.register'),
        (values) => call('POST', `/api/v1/invitations/${encodeURIComponent(token)}/accept-with-registration`, values), accepted),
      el('p', { class: 'below' }, el('button', { onclick: () => login(heading, pages.invitation, note) }, say('page.invitation.have_account'))))
    const me = await call('GET', '/api/v1/auth/me')
    if (me.status === 401) return register()
    return show(heading, el('p', {}, note), form([], say('page.invitation.accept', { address: me.data.user.email }),
      () => call('POST', `/api/v1/invitations/${encodeURIComponent(token)}/accept`, {}), accepted), leave())
  },
  reset_password() {
    const query = new URLSearchParams(location.search)
    if (!query.get('token')) return pages.forgot_password()
    return show(say('page.title.reset_password'), form(fresh, say('page.reset.submit'),
      (values) => call('POST', '/api/v1/auth/reset-password', { ...values, token: query.get('token'), email: query.get('email') }),
      () => show(say('page.title.reset_password'), el('p', {}, say('page.reset.done')), el('a', { class: 'btn primary', href: billing }, say('page.login')))))
  },
  forgot_password: () => show(say('page.title.forgot_password'), el('p', {}, say('page.forgot.text')), form([email], say('page.forgot.submit'),
    (values) => call('POST', '/api/v1/auth/forgot-password', values), () => show(say('page.title.forgot_password'), el('p', {}, say('page.forgot.done'))))),
  // A change of the address also needs the account's login or its password.
  verify_email() {
    const title = say('page.title.verify_email')
    const confirm = (values) => call('POST', '/api/v1/auth/verify-email', { ...values, token: new URLSearchParams(location.search).get('token') })
    const done = () => show(title, el('p', {}, say('page.verify.done')), el('a', { class: 'btn', href: billing }, say('page.to_billing')))
    return show(title, el('p', {}, say('page.verify.text')), form([], say('page.verify.submit'), async () => {
      const answer = await confirm({})
      if (answer.data.errors?.current_password) {
        show(title, el('p', { class: 'alert', role: 'alert' }, answer.message), form([{ ...password, name: 'current_password' }], say('page.verify.submit'), confirm, done))
      }
      return answer
    }, done))
  },
  billing: () => tenant(say('page.title.billing'), async (path, me) => {
    main.className = 'broad'
    const title = say('page.title.billing')
    if (!path) return show(title, el('p', {}, say('page.billing.none')), leave())
    const [current, list, currencies] = await Promise.all([
      call('GET', path + '/subscription'), call('GET', path + '/invoices'), call('GET', '/api/v1/currencies')])
    if (!currencies.ok) return show(title, el('p', { class: 'alert', role: 'alert' }, currencies.message), leave())
    for (const one of currencies.data.data) digits[one.code] = one.minor_units
    const sub = current.data.data
    const problem = el('p', { class: 'alert', role: 'alert' })
    const portal = async () => {
      const answer = await call('POST', path + '/docs/billing/portal', {})
      if (answer.ok) location.assign(answer.data.data.url)
      else { problem.textContent = answer.message; main.append(problem) }
    }
    const facts = sub && say(sub.cancel_at ? 'page.billing.ends' : sub.status === 'trialing' ? 'page.billing.trial' : 'page.billing.renews', { date: day(sub.cancel_at || sub.current_period_end) })
    const action = sub?.payment_action && el('a', { class: 'btn primary', href: sub.payment_action.url }, say('page.billing.pay'))
    show(title, el('p', { class: 'sum' }, sub ? `${sub.plan.name} — ${money(sub.price_cents * Math.max(1, sub.quantity), sub.currency)}` : say('page.billing.none')),
      sub && el('p', {}, `${say('page.status.' + sub.status)}. ${facts}`),
      el('div', { class: 'acts' }, action, sub && el('button', { onclick: portal }, say('page.billing.manage'))),
      el('h2', {}, say('page.billing.invoices')),
      list.data.data?.length ? el('ul', {}, ...list.data.data.map((invoice) => el('li', {},
        el('span', {}, invoice.number, el('span', {}, `${day(invoice.issue_date)} · ${say('page.invoice.' + invoice.status)}`)),
        el('span', {}, money(invoice.total.amount_cents, invoice.total.currency)),
        invoice.payment_action && el('a', { class: 'btn', href: invoice.payment_action.url }, say('page.billing.pay')),
        invoice.pdf_url && el('a', { class: 'btn', href: invoice.pdf_url }, 'PDF')))) : el('p', {}, say('page.billing.no_invoices')),
      leave(), me.user.email && el('p', { class: 'below' }, me.user.email))
  }),
  webhooks: () => tenant(say('page.title.webhooks'), async (path) => {
    main.className = 'broad'
    const title = say('page.title.webhooks')
    const list = path ? await call('GET', path + '/webhook-endpoints') : { ok: true, data: { data: [] } }
    if (!list.ok) return show(title, el('p', { class: 'alert', role: 'alert' }, list.message))
    show(title, list.data.data.length ? el('ul', {}, ...list.data.data.map((one) => el('li', {}, el('span', {}, one.url, el('span', {}, say(one.enabled ? 'page.webhooks.on' : 'page.webhooks.off'))),
      !one.enabled && el('button', { onclick: async () => { await call('PATCH', `${path}/webhook-endpoints/${one.id}`, { enabled: true }); pages.webhooks() } }, say('page.webhooks.enable'))))) :
      el('p', {}, say('page.webhooks.none')), leave())
  }),
  onboarding_success: () => show(say('page.title.onboarding_success'), el('p', {}, say('page.success.text')), el('a', { class: 'btn primary', href: billing }, say('page.to_billing'))),
  onboarding_plans: () => show(say('page.title.onboarding_plans'), el('p', {}, say('page.plans.text')), el('a', { class: 'btn', href: billing }, say('page.to_billing'))),
  missing: () => show(say('page.title.missing'), el('p', {}, say('page.missing.text'))),
}

pages[page]()
