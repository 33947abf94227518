// The page that shows the web components: who is signed in, how they look, and what they tell.
const element = document.querySelector('#stage > *')
const tools = document.getElementById('tools')
const [who, logIn, logOut] = ['who', 'login', 'logout'].map((id) => document.getElementById(id))

async function call(method, path, body) {
  const headers = { 'Content-Type': 'application/json' }
  if (method !== 'GET') headers['X-XSRF-TOKEN'] = (await fetch('/csrf-cookie', { referrerPolicy: 'same-origin' })).headers.get('X-CSRF-Token')
  const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), referrerPolicy: 'same-origin' })
  const data = await answer.json().catch(() => null)
  return answer.ok ? data : null
}

async function showWho() {
  // Without a session there is nobody to ask for.
  const me = document.cookie.includes('XSRF-TOKEN=') ? await call('GET', '/api/v1/auth/me') : null
  who.textContent = me ? `Signed in: ${me.user.name}` : 'Not signed in'
  logIn.hidden = !!me
  logOut.hidden = !me
}

async function enter(act) {
  await act()
  await showWho()
  element.reload()
}
logIn.addEventListener('click', () => enter(() => call('POST', '/api/v1/auth/login', { email: logIn.dataset.email, password: logIn.dataset.password })))
logOut.addEventListener('click', () => enter(async () => {
  await call('POST', '/api/v1/auth/logout')
}))

function apply() {
  const { lang, theme, accent, width } = Object.fromEntries(new FormData(tools))
  element.setAttribute('lang', lang)
  element.setAttribute('theme', theme)
  element.style.setProperty('--tenantry-accent', accent)
  document.getElementById('stage').className = `stage ${width}`
  const source = document.querySelector('script[src^="/elements/"]')
  document.getElementById('code').textContent = `<script type="module" src="${source.src}"></script>\n<${element.localName} lang="${lang}" theme="${theme}"></${element.localName}>`
}
tools.addEventListener('input', apply)
apply()

const events = document.getElementById('events')
for (const name of ['tenantry-choose', 'tenantry-changed', 'tenantry-error']) {
  element.addEventListener(name, (event) => {
    if (events.dataset.some !== 'yes') events.replaceChildren()
    events.dataset.some = 'yes'
    const line = document.createElement('li')
    const code = document.createElement('code')
    code.textContent = `${name} ${JSON.stringify(event.detail)}`
    line.append(code)
    events.prepend(line)
  })
}
void showWho()
