import { useLingui } from '@lingui/react/macro'
import { useMe } from '../app/session'
import { chooseTheme } from '../app/theme'
import type { IconName } from '../ui/Icon'
import type { Hit } from './reads'
import type { Found } from './types'

/** Returns the pages that the user can open, and the actions. Some actions concern the best match. */
export function usePages(top: Hit | undefined): { pages: Found[]; actions: Found[] } {
  const { t } = useLingui()
  const { user, currentTenant } = useMe()
  const admin = user.is_platform_admin
  const may = (permission: string) => user.permissions.includes(permission)
  const page = (url: string, icon: IconName, title: string): Found => ({ key: url, group: t`Pages`, icon, title, url })
  const action = (key: string, icon: IconName, title: string, to: string | (() => void)): Found => ({ key, group: t`Actions`, icon, title, ...(typeof to === 'string' ? { url: to } : { run: to }) })
  const own = currentTenant ? [
    page('/', 'home', t`Home`), page('/plan', 'plan', t`Plan`), page('/plan/usage', 'gauge', t`Usage`), page('/invoices', 'receipt', t`Invoices`), page('/team', 'team', t`Team`),
    page('/developers', 'code', t`API keys and webhooks`), page('/developers/requests', 'terminal', t`Requests`), page('/activity', 'activity', t`Activity`), page('/settings', 'settings', t`Settings`), page('/settings/sign-in', 'key', t`Sign-in`),
  ] : []
  const platform = admin ? [
    page('/platform', 'gauge', t`Platform`), page('/platform/tenants', 'building', t`Tenants`), page('/platform/invoices', 'receipt', t`Invoices of all tenants`), page('/platform/subscriptions', 'swap', t`Subscriptions`), page('/platform/people', 'person', t`People`),
    page('/platform/catalog', 'plan', t`Catalog`), page('/platform/catalog/packs', 'box', t`Packs`), page('/platform/catalog/codes', 'coin', t`Promotion codes`), page('/platform/meters', 'gauge', t`Meters`),
    page('/platform/analytics', 'chart', t`Analytics`), page('/platform/activity', 'activity', t`Platform activity`), page('/platform/developers', 'code', t`Platform developers`), page('/platform/developers/deliveries', 'hook', t`Webhook deliveries`),
    page('/platform/developers/requests', 'terminal', t`Request log`), page('/platform/settings', 'settings', t`Platform settings`), page('/platform/settings/admins', 'team', t`Platform admins`),
  ] : []
  const name = top?.title ?? ''
  const at = top?.url ?? ''
  const unsubscribed = [null, 'none', 'canceled', 'incomplete_expired'].includes(top?.status ?? null)
  const forTop = top ? [
    ...(may('subscriptions.manage') && unsubscribed ? [action('subscribe', 'plus', t`New subscription for ${name}`, `${at}/new-subscription`)] : []),
    ...(may('subscriptions.manage') && !unsubscribed ? [action('change', 'swap', t`Change the plan of ${name}`, `${at}?do=change`)] : []),
    ...(may('billing.credit') ? [action('credit', 'coin', t`Give credit to ${name}`, `${at}?do=credit`)] : []),
    ...(may('impersonation.start') ? [action('act', 'eye', t`Act as a member of ${name}`, `${at}?do=act`)] : []),
  ] : []
  const general = [
    ...(admin && may('tenants.manage') ? [action('tenant', 'plus', t`New tenant`, '/platform/tenants?do=new')] : []),
    action('light', 'sun', t`Light theme`, () => chooseTheme('light')), action('dark', 'sun', t`Dark theme`, () => chooseTheme('dark')),
  ]
  return { pages: [...(admin ? [...platform, ...own] : own), page('/profile', 'person', t`Your profile`), page('/profile/security', 'lock', t`Security`)], actions: [...forTop, ...general] }
}
