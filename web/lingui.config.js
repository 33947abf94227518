import { formatter } from '@lingui/format-po'

/** @type {import('@lingui/conf').LinguiConfig} */
export default {
  sourceLocale: 'en',
  locales: ['en', 'fr', 'es', 'it'],
  // One catalog for all pages, and one for each area, loaded with it.
  catalogs: [
    { path: 'src/pages/tenant/locales/{locale}', include: ['src/pages/tenant'] },
    { path: 'src/pages/profile/locales/{locale}', include: ['src/pages/profile'] },
    { path: 'src/pages/platform/tenant/locales/{locale}', include: ['src/pages/platform/tenant', 'src/pages/platform/Tenant.tsx'] },
    { path: 'src/pages/platform/locales/{locale}', include: ['src/pages/platform'], exclude: ['src/pages/platform/tenant/**'] },
    { path: 'src/pages/out/locales/{locale}', include: ['src/pages/out'] },
    { path: 'src/locales/{locale}', include: ['src'], exclude: ['src/pages/**'] },
  ],
  format: formatter({ origins: false }),
  orderBy: 'message',
  // Values never pass through the message parser: vite.config.ts resolves this to
  // src/app/Trans.tsx.
  runtimeConfigModule: { Trans: ['console-trans', 'Trans'] },
}
