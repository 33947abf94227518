const root = document.body.dataset.root
const one = (selector) => document.querySelector(selector)

// Switching between light and dark.
const theme = one('.theme')
theme.hidden = false
theme.addEventListener('click', () => {
  const html = document.documentElement
  const dark = html.dataset.theme ? html.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  html.dataset.theme = dark ? 'light' : 'dark'
  try {
    localStorage.setItem('theme', html.dataset.theme)
  } catch {
    // Without storage, the theme only applies to this page.
  }
})

// The menu with the navigation, in narrow windows. Without this script, the navigation is below the
// text.
const menu = one('.menu')
const nav = one('#nav')
if (nav) {
  document.documentElement.classList.add('has-menu')
  menu.hidden = false
  const show = (open) => {
    document.documentElement.classList.toggle('menu-open', open)
    menu.setAttribute('aria-expanded', String(open))
    if (open) nav.querySelector('[aria-current]')?.scrollIntoView({block: 'center'})
  }
  menu.addEventListener('click', () => show(menu.getAttribute('aria-expanded') === 'false'))
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && menu.getAttribute('aria-expanded') === 'true') {
      show(false)
      menu.focus()
    }
  })
  const current = nav.querySelector('[aria-current]')
  if (current && current.offsetTop > nav.clientHeight - 80) nav.scrollTop = current.offsetTop - nav.clientHeight / 2
}

// Copying code.
for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy this code')
  button.addEventListener('click', async () => {
    const text = block.querySelector('code').textContent
    let said = 'Copied'
    try {
      await navigator.clipboard.writeText(text)
    } catch { // no permission, or no https
      getSelection().selectAllChildren(block.querySelector('code'))
      said = 'Press Ctrl+C'
    }
    button.textContent = said
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  block.append(button)
}

// Copying the address of a heading, a field or an error.
const toast = document.createElement('p')
toast.className = 'toast'
toast.setAttribute('role', 'status')
document.body.append(toast)
let fading
document.addEventListener('click', async (event) => {
  const anchor = event.target.closest?.('a.anchor')
  if (!anchor || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  try {
    await navigator.clipboard.writeText(anchor.href)
  } catch { // no permission, or no https: the link still leads to the address
    return
  }
  toast.textContent = 'Link copied'
  clearTimeout(fading)
  fading = setTimeout(() => { toast.textContent = '' }, 2000)
})

// Marking the current section in the table of contents.
const links = new Map([...document.querySelectorAll('.contents a')].map((a) => [decodeURIComponent(a.hash.slice(1)), a]))
if (links.size) {
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean)
  let waiting = false
  const follow = () => {
    waiting = false
    let read = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1)
    if (innerHeight + scrollY >= document.documentElement.scrollHeight - 4) read = headings.at(-1)
    for (const [id, a] of links) {
      if (id === read?.id) a.setAttribute('aria-current', 'true')
      else a.removeAttribute('aria-current')
    }
  }
  addEventListener('scroll', () => {
    if (!waiting) requestAnimationFrame(follow)
    waiting = true
  }, {passive: true})
  follow()
}

// Search. The index is fetched when it is first needed. Every term of the query, or one of its
// synonyms, has to begin a word of the passage, of its heading or of its page's name.
const dialog = one('dialog.search')
const input = dialog.querySelector('input')
const results = one('#results')
const outcome = one('.outcome')
const opener = one('.search-open')
let index
const fold = (text) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')

function load() {
  index ??= fetch(root + 'assets/search.json').then((answer) => {
    if (!answer.ok) throw new Error(String(answer.status))
    return answer.json()
  }).then(({synonyms, pages}) => ({
    synonyms: new Map(Object.entries(synonyms)),
    passages: pages.flatMap((page) => page.p.map(([id, heading, text], i) => ({
      names: i ? undefined : page.n,
      href: root + page.a + (id && '#' + id), page: page.t, section: page.s, heading, text,
      in: {page: fold(' ' + page.t), heading: fold(' ' + heading), text: fold(' ' + text)},
    }))),
  }))
  index.catch(() => { index = undefined })
  return index
}

const begins = (text, word) => {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ')) return true
  }
  return false
}

// parse splits a query into terms. A term is a word, or up to four words that have synonyms. The
// last word may be incomplete.
function parse(query, synonyms) {
  const words = fold(query).split(/[^\p{L}\p{N}_./-]+/u).filter(Boolean)
  const terms = []
  while (words.length) {
    let count = Math.min(4, words.length)
    while (count > 1 && !synonyms.has(words.slice(0, count).join(' '))) count--
    const term = words.splice(0, count).join(' ')
    const singular = term.length > 4 ? term.replace(/([^s])s$/, '$1') : term
    let key = [term, singular].find((other) => synonyms.has(other))
    if (!key && !words.length && term.length > 3) key = [...synonyms.keys()].find((other) => other.startsWith(term))
    const others = [...synonyms.get(key) ?? []]
    if (singular !== term) others.push(singular)
    terms.push({term, singular, others})
  }
  return terms
}

function rank(passage, word) {
  const page = begins(passage.in.page, word) ? (passage.heading ? 4 : 12) : 0
  return page + (begins(passage.in.heading, word) ? 10 : 0) + (begins(passage.in.text, word) ? 2 : 0)
}

// addressed splits a query such as "POST /tenant/{tenantId}/usage" into method and path, without the
// names of variables. It returns null for other queries.
const addressed = (query) => {
  const parts = /^(?:(get|post|put|patch|delete)\s+)?(?:https?:\/\/[^/]+)?(?:\/api\/v1)?(\/\S*?)\/?(?:\?.*)?$/i.exec(query.trim())
  return parts && {method: parts[1]?.toUpperCase(), path: fold(parts[2].replace(/\{[^/]*|:\w+/g, '{}'))}
}

// named returns how well a query names an operation by its ID, or by its path with or without method.
function named(names, query, asked) {
  const [id, method, path] = names
  if (fold(id) === fold(query.trim())) return 200
  if (!asked || asked.method && asked.method !== method) return 0
  const own = addressed(path).path
  if (own === asked.path) return 200
  return asked.path.length > 1 && own.startsWith(asked.path) ? 100 - own.length / 10 : 0
}

const inReference = document.querySelector('.ref-nav') !== null

function find(passages, terms, query) {
  const found = []
  const asked = addressed(query)
  for (const passage of passages) {
    const first = inReference && passage.section.startsWith('API reference') ? 1000 : 0
    const name = passage.names ? named(passage.names, query, asked) : 0
    if (name) {
      found.push({passage, score: name + first})
      continue
    }
    let score = first
    const every = terms.every(({term, singular, others}) => {
      const also = passage.section.startsWith('API reference') ? [singular] : others // synonyms lead to guides
      const best = Math.max(rank(passage, term), ...also.map((other) => rank(passage, other) * 0.8))
      score += best
      return best > 0
    })
    if (every && terms.length) {
      if (fold(passage.heading) === terms.map(({term}) => term).join(' ')) score += 20
      if (passage.section.includes('·') || ['Changelog', 'Comparison'].includes(passage.page)) score -= 3
      found.push({passage, score: score - Math.min(3, passage.text.length / 4000)})
    }
  }
  return found.sort((a, b) => b.score - a.score).slice(0, 20).map(({passage}) => passage)
}

function excerpt(text, words) {
  const folded = fold(text)
  const at = folded.length === text.length ? Math.min(...words.map((word) => folded.indexOf(word)).filter((i) => i >= 0), text.length) : 0
  const from = at > 50 && at < text.length ? text.indexOf(' ', at - 50) + 1 : 0
  return (from ? '… ' : '') + text.slice(from, from + 130)
}

function marked(text, words) {
  const part = document.createDocumentFragment()
  const folded = fold(text)
  let done = 0
  while (folded.length === text.length && done < text.length) {
    const next = words.map((word) => [folded.indexOf(word, done), word.length]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0]
    if (!next) break
    const mark = document.createElement('mark')
    mark.textContent = text.slice(next[0], next[0] + next[1])
    part.append(text.slice(done, next[0]), mark)
    done = next[0] + next[1]
  }
  part.append(text.slice(done))
  return part
}

function choose(option) {
  for (const other of results.children) other.setAttribute('aria-selected', String(other === option))
  if (option) {
    input.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({block: 'nearest'})
  } else {
    input.removeAttribute('aria-activedescendant')
  }
}

async function search() {
  const asked = input.value
  let terms = []
  let found = []
  try {
    const {synonyms, passages} = await load()
    terms = parse(asked, synonyms)
    found = find(passages, terms, asked)
  } catch {
    outcome.textContent = 'The search cannot be loaded. Try again, or look at all pages.'
    return
  }
  if (asked !== input.value) return
  const words = terms.flatMap(({term, others}) => [term, ...others])
  results.replaceChildren(...found.map((passage, i) => {
    const option = document.createElement('li')
    option.id = 'result-' + i
    option.setAttribute('role', 'option')
    const where = document.createElement('span')
    where.className = 'from'
    where.textContent = passage.heading ? passage.section + ' › ' + passage.page : passage.section
    const title = document.createElement('strong')
    title.append(marked(passage.heading || passage.page, words))
    const text = document.createElement('span')
    text.append(marked(excerpt(passage.text, words), words))
    option.append(where, title, text)
    option.dataset.href = passage.href
    option.addEventListener('click', () => go(option))
    option.addEventListener('pointermove', () => { if (option.getAttribute('aria-selected') !== 'true') choose(option) })
    return option
  }))
  input.setAttribute('aria-expanded', String(found.length > 0))
  choose(results.firstElementChild)
  if (!terms.length) outcome.textContent = 'Try “webhook signature”, “trial” or “2FA”.'
  else if (!found.length) outcome.textContent = 'Nothing was found for “' + asked.trim() + '”.'
  else outcome.textContent = found.length === 1 ? 'One result' : found.length + ' results'
}

function go(option) {
  dialog.close()
  location.href = option.dataset.href
}

function open() {
  if (dialog.open) return
  dialog.showModal()
  input.select()
  search()
}

opener.hidden = false
opener.addEventListener('click', open)
opener.addEventListener('pointerenter', () => { load().catch(() => {}) })
dialog.querySelector('.close').addEventListener('click', () => dialog.close())
dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close() })
input.addEventListener('input', search)
input.addEventListener('keydown', (event) => {
  const options = [...results.children]
  const at = options.findIndex((option) => option.getAttribute('aria-selected') === 'true')
  if (event.key === 'ArrowDown') choose(options[(at + 1) % options.length])
  else if (event.key === 'ArrowUp') choose(options.at(at - 1))
  else if (event.key === 'Enter' && options[at]) go(options[at])
  else if (event.key === 'Escape') dialog.close() // the browser would only empty the field
  else return
  event.preventDefault()
})
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, textarea, select, [contenteditable]')
  if ((event.key === 'k' && (event.metaKey || event.ctrlKey)) || (event.key === '/' && !typing && !event.metaKey && !event.ctrlKey && !event.altKey)) {
    event.preventDefault()
    open()
  }
})
