// Builds each element into one file of its own and all of them into another, with compressed
// copies, and fails where an element is larger than a page should have to load.
import { build, transform } from 'esbuild'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'

/** The most that one element may have, compressed, with all that it needs. */
const most = 22_000

const root = new URL('../', import.meta.url)
const names = ['pricing', 'team', 'billing', 'usage', 'account']

/** Styles are imported as texts without their spaces and comments. */
const styles = {
  name: 'styles',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true, target: 'es2024' })
      return { contents: code.trim().replace(/, (?=[\w#"])/g, ','), loader: 'text' }
    })
  },
}

/** Lines of a template begin with spaces that nobody sees. */
const templates = {
  name: 'templates',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({ contents: readFileSync(path, 'utf8').replace(/\n\s+(?=<|\$\{|\?|@|\.|[a-z-]+=)/g, '\n'), loader: 'ts' }))
  },
}

/** What gzip makes of a file: an earlier result that says the same stays, as libraries differ. */
function packed(file, content) {
  try {
    const before = readFileSync(file)
    if (gunzipSync(before).equals(content)) return before
  } catch {
    // There is none yet.
  }
  return gzipSync(content, { level: 9 })
}

const { outputFiles } = await build({
  absWorkingDir: root.pathname,
  entryPoints: Object.fromEntries([...names, 'elements'].map((name) => [name, `src/${name}.ts`])),
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  banner: { js: '/* Contains lit-html, Copyright Google LLC, BSD-3-Clause: licenses.md beside this file. */' },
  plugins: [styles, templates],
  write: false,
})
const files = outputFiles.map(({ path, contents }) => ({ path, name: path.split('/').at(-1), content: Buffer.from(contents) }))
  .map((one) => ({ ...one, gz: packed(`${one.path}.gz`, one.content) }))
rmSync(new URL('dist/', root), { recursive: true, force: true })
mkdirSync(new URL('dist/', root))
writeFileSync(new URL('dist/licenses.md', root), `# What the elements contain\n\n## lit-html\n\n${readFileSync(new URL('node_modules/lit-html/LICENSE', root), 'utf8')}`)
let large = 0
for (const { path, name, content, gz } of files) {
  writeFileSync(path, content)
  writeFileSync(`${path}.gz`, gz)
  const limited = name !== 'elements.js'
  console.log(`${name}: ${(gz.length / 1000).toFixed(1)} KB of compressed script`)
  if (limited && gz.length >= most) large++
}
if (large > 0) {
  console.error(`${large} of the elements are not below ${most / 1000} KB`)
  process.exit(1)
}
