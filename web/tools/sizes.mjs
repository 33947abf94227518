// Fails if a page that people open first needs more than 10 files or 180 KB, compressed, to be
// interactive, or if a script is larger than 130 KB. Its data needs two requests more.
import { readdirSync, readFileSync, statSync } from 'node:fs'

const most = { files: 10, bytes: 180_000, script: 130_000 }

const dist = new URL('../dist/', import.meta.url)
const page = readFileSync(new URL('index.html', dist), 'utf8')
const packed = (name) => statSync(new URL(`${name}.br`, dist), { throwIfNoEntry: false })?.size ?? statSync(new URL(name, dist)).size
const always = ['index.html', ...[...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((found) => found[1])]
const { '*': all, ...pages } = JSON.parse(page.match(/data-files='([^']+)'/)[1])
const troubles = []

for (const [at, { files, texts }] of Object.entries(pages)) {
  for (const language of Object.keys(texts)) {
    const needed = [...always, ...files, ...all.texts[language], ...texts[language]]
    const bytes = needed.reduce((sum, name) => sum + packed(name), 0)
    if (language === 'en') console.log(`${at}: ${needed.length} files, ${(bytes / 1000).toFixed(1)} KB compressed`)
    if (needed.length > most.files) troubles.push(`${at} needs ${needed.length} files`)
    if (bytes > most.bytes) troubles.push(`${at} needs ${bytes} bytes in ${language}`)
  }
}
for (const name of readdirSync(new URL('assets/', dist)).filter((name) => name.endsWith('.js'))) {
  const size = packed(`assets/${name}`)
  if (size > most.script) troubles.push(`${name} has ${size} bytes`)
}
if (troubles.length > 0) {
  console.error(`too large: ${troubles.join(', ')}`)
  process.exit(1)
}
