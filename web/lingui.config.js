import { formatter } from '@lingui/format-po'

/** @type {import('@lingui/conf').LinguiConfig} */
export default {
  sourceLocale: 'en',
  locales: ['en', 'fr', 'es', 'it'],
  // A catalog for what every page needs, and one for each area, loaded with it.
  catalogs: [
    { path: 'src/pages/tenant/locales/{locale}', include: ['src/pages/tenant', 'src/pages/profile'] },
    { path: 'src/pages/platform/locales/{locale}', include: ['src/pages/platform'] },
    { path: 'src/pages/out/locales/{locale}', include: ['src/pages/out'] },
    { path: 'src/locales/{locale}', include: ['src'], exclude: ['src/pages/**'] },
  ],
  format: formatter({ origins: false }),
  orderBy: 'message',
  // Values never pass through the message parser: src/app/Trans.tsx, which vite.config.ts finds.
  runtimeConfigModule: { Trans: ['console-trans', 'Trans'] },
}
