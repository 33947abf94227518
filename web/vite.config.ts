import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { lingui, linguiTransformerBabelPreset } from '@lingui/vite-plugin'
import babel from '@rolldown/plugin-babel'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { firstFiles, groups } from './tools/chunks.ts'

/** The files to compress in advance. Fonts are already compressed. */
const compressible = /\.(js|css|html|svg|json)$/

/** Writes x.br and x.gz next to each x. The program contains these instead of x (embed.go). */
function sidecars(): Plugin {
  return {
    name: 'sidecars',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        for (const [name, file] of Object.entries(bundle)) {
          if (!compressible.test(name)) continue
          const content = Buffer.from(file.type === 'chunk' ? file.code : file.source)
          const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }
          this.emitFile({ type: 'asset', fileName: `${name}.br`, source: brotliCompressSync(content, brotli) })
          this.emitFile({ type: 'asset', fileName: `${name}.gz`, source: gzipSync(content, { level: 9 }) })
        }
      },
    },
  }
}

/** During development pages have any depth. In production the service sets the base URL. */
function baseAddress(): Plugin {
  return { name: 'base-address', apply: 'serve', transformIndexHtml: () => [{ tag: 'base', attrs: { href: '/' }, injectTo: 'head-prepend' }] }
}

export default defineConfig({
  base: '',
  resolve: { alias: { 'console-trans': `${import.meta.dirname}/src/app/Trans.tsx` } },
  plugins: [babel({ presets: [linguiTransformerBabelPreset()] }), react(), ...lingui({ failOnMissing: true, failOnCompileError: true }), firstFiles(), sidecars(), baseAddress()],
  build: {
    target: 'es2023',
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/csrf-cookie', '/sandbox', '/readyz'].map((path) => [path, { target: process.env.TENANTRY ?? 'http://127.0.0.1:8080' }]),
    ),
  },
})
