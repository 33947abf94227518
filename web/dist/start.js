// Sets theme, accent and language before the first paint, and preloads the page's files and data.
const html = document.documentElement
const stored = (name) => {
  try {
    return localStorage.getItem(name)
  } catch {
    return null // without storage the defaults hold
  }
}
const theme = stored('theme')
if (theme === 'light' || theme === 'dark') html.dataset.theme = theme
const accent = document.querySelector('meta[name=accent]')?.content
if (accent) html.style.setProperty('--accent', accent)

// The stored choice, the browser's language, or English.
const { languages, files } = document.currentScript.dataset
html.lang = [stored('locale'), ...navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())].find((code) => languages.split(' ').includes(code)) ?? 'en'

const at = location.pathname.slice(new URL(document.baseURI).pathname.length - 1).replace(/(.)\/$/, '$1')
const load = (rel, name) => document.head.append(Object.assign(document.createElement('link'), { rel, href: `./${name}`, crossOrigin: '' }))
if (files) {
  const { '*': all, [at]: own = { files: [], texts: {} } } = JSON.parse(files)
  for (const name of [...own.files, ...all.texts[html.lang], ...(own.texts[html.lang] ?? [])]) load('modulepreload', name)
  if (stored('font')) load('stylesheet', all.fonts) // it is in the browser's cache
}

// Every session has a CSRF cookie. The console takes the responses from window.early.
const urls = ['/api/v1/settings', '/api/v1/currencies']
if (document.cookie.includes('XSRF-TOKEN=')) urls.push('/api/v1/auth/me', ...(/^\/platform(\/|$)/.test(at) ? [] : ['/api/v1/tenant']))
const response = fetch(`api/v1/batch?${urls.map((url) => `url=${encodeURIComponent(url)}`).join('&')}`, { credentials: 'same-origin', headers: { 'Accept-Language': html.lang } })
response.catch(() => {}) // the console tries again
window.early = { urls, response }
