// Fails if the built console exceeds 200 KB of compressed scripts for its first paint, or 60 KB for
// a page.
import { readdirSync, readFileSync, statSync } from 'node:fs'

const dist = new URL('../dist/', import.meta.url)
const page = readFileSync(new URL('index.html', dist), 'utf8')
const packed = (name) => statSync(new URL(`${name}.br`, dist), { throwIfNoEntry: false })?.size ?? statSync(new URL(name, dist)).size
const first = [...page.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)].map((found) => found[1])
// A page loads the shared texts and the texts of its area, which are at most the two largest files.
const texts = readdirSync(new URL('assets/', dist)).filter((name) => /^en-.*\.js$/.test(name)).map((name) => packed(`assets/${name}`)).sort((a, b) => b - a)
const total = [...first.map(packed), ...texts.slice(0, 2)].reduce((sum, size) => sum + size, 0)
const wide = readdirSync(new URL('assets/', dist))
  .filter((name) => name.endsWith('.js') && !first.includes(`assets/${name}`))
  .map((name) => [name, packed(`assets/${name}`)])
  .filter(([, size]) => size > 60_000)

console.log(`first paint: ${(total / 1000).toFixed(1)} KB of compressed script in ${first.length} files and the texts`)
if (total > 200_000 || wide.length > 0) {
  console.error(`too large: ${total > 200_000 ? 'the first paint, ' : ''}${wide.map(([name, size]) => `${name} (${size})`).join(', ')}`)
  process.exit(1)
}
