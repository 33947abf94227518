// The samples of a page as tabs. The chosen language is remembered, for all pages.
const kept = () => {
  try {
    return localStorage.getItem('sample')
  } catch {
    return null // without storage the first language is shown
  }
}

function show(sample, name) {
  for (const tab of sample.querySelectorAll('[role=tab]')) {
    const chosen = tab.textContent === name
    tab.setAttribute('aria-selected', String(chosen))
    tab.tabIndex = chosen ? 0 : -1
  }
  for (const part of sample.querySelectorAll('.part-of')) part.hidden = part.dataset.name !== name
}

document.querySelectorAll('.sample').forEach((sample, number) => {
  const parts = [...sample.querySelectorAll('.part-of')]
  const tabs = document.createElement('div')
  tabs.className = 'code-tabs'
  tabs.setAttribute('role', 'tablist')
  tabs.setAttribute('aria-label', sample.getAttribute('aria-label'))
  parts.forEach((part, i) => {
    const id = `sample-${number}-${i}`
    const tab = document.createElement('button')
    tab.type = 'button'
    tab.textContent = part.dataset.name
    tab.id = `${id}-tab`
    tab.setAttribute('role', 'tab')
    tab.setAttribute('aria-controls', id)
    part.id = id
    part.setAttribute('role', 'tabpanel')
    part.setAttribute('aria-labelledby', tab.id)
    tab.addEventListener('click', () => {
      show(sample, tab.textContent)
      if (number > 0) return
      try {
        localStorage.setItem('sample', tab.textContent)
      } catch {
        // Without storage, the choice only applies to this page.
      }
    })
    tabs.append(tab)
  })
  tabs.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    const all = [...tabs.children]
    const next = all.at((all.indexOf(event.target) + step) % all.length)
    next.click()
    next.focus()
    event.preventDefault()
  })
  sample.prepend(tabs)
  sample.classList.add('has-tabs')
  const name = kept()
  show(sample, parts.some((part) => part.dataset.name === name) ? name : parts[0].dataset.name)
})

// Opening the closed list that contains the field of the address.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  for (let at = target?.parentElement?.closest('details'); at; at = at.parentElement.closest('details')) at.open = true
  target?.scrollIntoView()
}
if (location.hash) reveal()
addEventListener('hashchange', reveal)
