import { formatter } from '@lingui/format-po'

// The lists across tenants, and the form of a new subscription.
const lists = ['lists', 'invoices', 'subscribe', 'tenants', 'Tenants.tsx', 'Invoices.tsx', 'CreditNotes.tsx', 'Subscriptions.tsx', 'People.tsx', 'NewSubscription.tsx'].map((one) => `src/pages/platform/${one}`)

// Revenue, and the keys, webhooks and requests of the platform or a tenant.
const analytics = ['src/pages/platform/analytics', 'src/pages/platform/Analytics.tsx']
const developers = ['src/parts/hooks', 'src/parts/keys', 'src/parts/requests']

const without = (paths) => paths.map((one) => (one.endsWith('.tsx') ? one : `${one}/**`))

/** @type {import('@lingui/conf').LinguiConfig} */
export default {
  sourceLocale: 'en',
  locales: ['en', 'fr', 'es', 'it'],
  // One catalog for all pages, and one for each area, loaded with it.
  catalogs: [
    { path: 'src/pages/tenant/locales/{locale}', include: ['src/pages/tenant'] },
    { path: 'src/pages/profile/locales/{locale}', include: ['src/pages/profile'] },
    { path: 'src/pages/platform/tenant/locales/{locale}', include: ['src/pages/platform/tenant', 'src/pages/platform/Tenant.tsx'] },
    { path: 'src/pages/platform/lists/locales/{locale}', include: lists },
    { path: 'src/pages/platform/analytics/locales/{locale}', include: analytics },
    { path: 'src/parts/developers/locales/{locale}', include: developers },
    { path: 'src/pages/platform/locales/{locale}', include: ['src/pages/platform'], exclude: ['src/pages/platform/tenant/**', ...without([...lists, ...analytics])] },
    { path: 'src/pages/out/locales/{locale}', include: ['src/pages/out'] },
    { path: 'src/search/locales/{locale}', include: ['src/search'] },
    { path: 'src/locales/{locale}', include: ['src'], exclude: ['src/pages/**', 'src/search/**', ...without(developers)] },
  ],
  format: formatter({ origins: false }),
  orderBy: 'message',
  // Values never pass through the message parser: vite.config.ts resolves this to
  // src/app/Trans.tsx.
  runtimeConfigModule: { Trans: ['console-trans', 'Trans'] },
}
