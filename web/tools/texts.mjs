// Fails if two catalogs have different translations of a message. All catalogs are merged, so the
// shown translation would depend on which page loaded first.
import { globSync, readFileSync } from 'node:fs'

const quoted = (text) => [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((part) => part[1]).join('')

/** Returns the messages of a catalog: context and message to translation. */
function messages(file) {
  const found = new Map()
  for (const entry of readFileSync(file, 'utf8').split(/\n\s*\n/)) {
    const part = (name) => entry.match(new RegExp(`^${name} ((?:".*"\\n?)+)`, 'm'))?.[1]
    const message = part('msgid')
    if (message && quoted(message)) found.set(`${quoted(message)}${part('msgctxt') ? ` (${quoted(part('msgctxt'))})` : ''}`, quoted(part('msgstr') ?? ''))
  }
  return found
}

let wrong = 0
let compared = 0
for (const locale of ['fr', 'es', 'it']) {
  const texts = new Map()
  for (const file of globSync(`src/**/locales/${locale}.po`).sort()) {
    for (const [message, text] of messages(file)) {
      const other = texts.get(message)
      if (other) compared++
      if (other && other.text !== text) {
        wrong++
        console.error(`${locale}: ${message} is “${other.text}” in ${other.file} and “${text}” in ${file}`)
      }
      if (!other) texts.set(message, { text, file })
    }
  }
}
if (compared < 50) {
  console.error(`only ${compared} texts are in two catalogs: are they read right?`)
  wrong++
}
process.exit(wrong ? 1 : 0)
