// Fails if the service records an audit action that the console has no words for. With --list it
// prints the actions.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')
const sources = globSync('internal/**/*.go', { cwd: root }).filter((file) => !/_test\.go$|sql\/|kit\/|test\//.test(file))

/**
 * Returns the actions that the service records: literals at the calls, and prefixes with the verbs
 * of their package.
 */
function recorded() {
  const actions = new Set()
  const prefixes = new Map() // by folder: "currency." in Action: "currency." + action
  const verbs = new Map() // by folder: "created" in record(ctx, "created", …)
  const add = (map, key, value) => map.set(key, (map.get(key) ?? new Set()).add(value))
  for (const file of sources) {
    const text = readFileSync(path.join(root, file), 'utf8')
    const folder = path.dirname(file)
    for (const [, action] of text.matchAll(/(?:\w*[Rr]ecord\w*\(|ChangeEntry\(|decide\(|Action:\s*|change\w+\(|\baction\w*\s*:?=\s*)[^"\n]*"([a-z_]+\.[a-z_]+)"/g)) actions.add(action)
    for (const [, prefix] of text.matchAll(/Action:\s*"([a-z_]+\.)" \+ action/g)) add(prefixes, folder, prefix)
    for (const [, resource] of text.matchAll(/\.Record\(ctx, "([a-z_]+)", action,/g)) add(prefixes, folder, `${resource}.`)
    for (const [, resource, verb] of text.matchAll(/\.Record\(ctx, "([a-z_]+)", "([a-z_]+)"/g)) actions.add(`${resource}.${verb}`)
    for (const [, verb] of text.matchAll(/(?:\brecord\(ctx, |\blink\(ctx, now, |\bchangePlan\(ctx, \w+, |\baction\w*\s*:?=\s*)"([a-z_]+)"/g)) add(verbs, folder, verb)
  }
  for (const [folder, all] of prefixes) for (const prefix of all) for (const verb of verbs.get(folder) ?? []) actions.add(prefix + verb)
  return actions
}

const words = readFileSync(path.join(root, 'web/src/parts/timeline/changes.ts'), 'utf8')
const own = new Set([...words.matchAll(/^ {2}'([a-z_]+\.[a-z_]+)': \[/gm)].map(([, action]) => action))
const kinds = new Set([...words.match(/const kinds[^]*?\n {2}\}/)[0].matchAll(/([a-z_]+): \['/g)].map(([, kind]) => kind))
const common = new Set([...words.match(/const words: Record[^]*?\n {2}\}/)[0].matchAll(/([a-z_]+): t`/g)].map(([, verb]) => verb))

const actions = recorded()
const problems = []
for (const action of [...actions].sort()) {
  const [resource, verb] = action.split('.')
  if (!own.has(action) && !(kinds.has(resource) && common.has(verb))) problems.push(`${action} has no words in src/parts/timeline/changes.ts`)
}
if (actions.size < 80) problems.push(`only ${actions.size} actions were found: are the calls read right?`)
for (const problem of problems) console.error(problem)
if (process.argv.includes('--list')) console.log([...actions].sort().join('\n'))
process.exit(problems.length ? 1 : 0)
