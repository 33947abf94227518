// Decides which files the build puts the modules into, so that a page needs few requests.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Plugin } from 'vite'

const src = path.resolve(import.meta.dirname, '../src')
const languages = ['en', 'fr', 'es', 'it']

/**
 * The pages that people open first, with their modules and the area of their texts. Each has one
 * file, besides the files that pages share.
 */
const firstPages: Record<string, { file: string; modules: string[]; texts: string }> = {
  '/sign-in': { file: 'sign-in', modules: ['pages/out/SignIn.tsx'], texts: 'pages/out' },
  '/': { file: 'tenant-home', modules: ['pages/tenant/Home.tsx'], texts: 'pages/tenant' },
  '/platform': { file: 'platform-home', modules: ['pages/platform/Home.tsx'], texts: 'pages/platform' },
}

interface Graph { getModuleInfo(id: string): { importedIds: readonly string[] } | null }

/** Returns modules with all modules that they import statically, directly or indirectly. */
function reach(graph: Graph, from: string[]): Set<string> {
  const found = new Set<string>()
  const waiting = from.map((name) => path.join(src, name))
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue
    found.add(id)
    waiting.push(...(graph.getModuleInfo(id)?.importedIds ?? []))
  }
  return found
}

/**
 * Returns the name of the file of a module: index for every page, or one of the first pages. Modules
 * of several first pages are in index too. The build decides about other modules.
 */
function fileOf(kind: 'index' | 'page') {
  let entry = new Set<string>()
  let pages: [string, Set<string>][] | undefined
  return (id: string, graph: Graph): string | null => {
    if (!pages) {
      entry = reach(graph, ['main.tsx'])
      pages = Object.values(firstPages).map(({ file, modules }) => [file, reach(graph, modules)])
    }
    const users = pages.filter(([, modules]) => modules.has(id)).map(([name]) => name)
    if (kind === 'page') return users[0] ?? null
    return entry.has(id) || users.length > 1 ? 'index' : null
  }
}

export const groups = [
  { name: fileOf('index'), debugName: 'index', priority: 3 },
  { name: fileOf('page'), debugName: 'page', priority: 2 },
  { name: 'floating', test: /src\/ui\/Floating|node_modules\/(@mantine|@floating-ui)\//, priority: 1 },
  // A file that only a few pages share is worth a request from 8 KB on.
  { name: 'shared', test: /\/src\/.*\.tsx?$/, minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 8000 },
]

/**
 * Writes the files of the first pages into the page, as data of the script start.js, which loads
 * them with the page's script. The icon is in the page too, which saves a request.
 */
export function firstFiles(): Plugin {
  return {
    name: 'first-files',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const chunks = Object.values(bundle ?? {}).filter((file) => file.type === 'chunk')
        const chunkOf = (name: string) => {
          const found = chunks.find((chunk) => chunk.moduleIds.includes(path.join(src, name)))
          if (!found) throw new Error(`${name} is not in the build`)
          return found
        }
        const textsOf = (area: string) => Object.fromEntries(languages.map((code) => [code, [chunkOf(`${area}/locales/${code}.po`).fileName]]))
        const first = Object.entries(firstPages).map(([at, { modules, texts }]) => {
          const entries = chunks.filter((chunk) => modules.some((name) => chunk.facadeModuleId === path.join(src, name)))
          const own = [...entries, ...modules.map(chunkOf)]
          const names = new Set(own.flatMap((chunk) => [chunk.fileName, ...chunk.imports]).filter((name) => !html.includes(name)))
          return [at, { files: [...names], texts: textsOf(texts) }]
        })
        const fonts = Object.keys(bundle ?? {}).find((name) => /\/fonts-.*\.css$/.test(name))
        const files = JSON.stringify(Object.fromEntries([['*', { fonts, texts: textsOf('.') }], ...first]))
        const icon = encodeURIComponent(readFileSync(path.join(src, '../public/favicon.svg'), 'utf8'))
        return html.replace('href="./favicon.svg"', `href="data:image/svg+xml,${icon}"`).replace('<script src="./start.js"', `<script src="./start.js" data-files='${files}'`)
      },
    },
  }
}
