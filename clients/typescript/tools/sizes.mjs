// What the package adds to a page, with openapi-fetch, minified and compressed; fails above the limit.
import { build } from 'esbuild'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

const resolveDir = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..')
const limits = {
  'all of it': ["export * from './dist/index.js'", 8_000],
  'createClient with cookies': ["export { createClient, cookies } from './dist/index.js'", 5_000],
}
for (const [what, [contents, limit]] of Object.entries(limits)) {
  const { outputFiles } = await build({ stdin: { contents, resolveDir }, bundle: true, minify: true, format: 'esm', target: 'es2022', write: false })
  const size = gzipSync(outputFiles[0].contents, { level: 9 }).length
  console.log(`${what}: ${size} of ${limit} bytes`)
  if (size > limit) process.exitCode = 1
}
