import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, notFound, parseSearchWith, redirect, stringifySearchWith, type StaticDataRouteOption } from '@tanstack/react-router'
import { Required } from '../shell/Required'
import { PlatformShell } from '../shell/PlatformShell'
import { TenantShell } from '../shell/TenantShell'
import { ProfileShell } from '../shell/ProfileShell'
import { address } from '../api/client'
import { offeredCurrenciesQuery } from './currencies'
import { Failure, NotFound, Pending, Unreachable } from './Failure'
import { textsOf, type Area } from './locale'
import { meQuery, settingsQuery, tenantQuery } from './session'

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof newRouter>
  }
  interface StaticDataRouteOption {
    /** The page's name in the top bar. */
    crumb?: MessageDescriptor
    /** The list that contains the page, shown before it. */
    under?: { to: '/platform/tenants' | '/platform/invoices' | '/platform/catalog' | '/platform/developers' | '/platform/settings' | '/plan' | '/invoices' | '/developers' | '/settings' | '/profile'; crumb: MessageDescriptor }
  }
}

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  beforeLoad: async ({ context }) => {
    await Promise.all([context.queries.ensureQueryData(settingsQuery), context.queries.ensureQueryData(offeredCurrenciesQuery)])
  },
  component: Required,
  notFoundComponent: NotFound,
  errorComponent: Failure,
})

type Search = Record<string, string | undefined>

/** Filters in the URL are strings. A page ignores the ones that it does not use. */
const texts = (search: Record<string, unknown>): Search =>
  Object.fromEntries(Object.entries(search).flatMap(([key, value]) => (value === undefined || value === null || value === '' ? [] : [[key, String(value)]])))

type Load = () => Promise<{ default: React.ComponentType }>

/** Reports whether the service is reachable. */
const answers = () => fetch(address('/readyz'), { cache: 'no-store' }).then(() => true, () => false)

/**
 * Loads a page with the texts of its areas. The router reloads the window if a file is missing, for
 * example after an update. Without a connection that would lose the console, so show an error
 * instead.
 */
const load = (areas: Area | Area[], page: Load) => lazyRouteComponent(async () => {
  try {
    return (await Promise.all([page(), ...[areas].flat().map(textsOf)]))[0]
  } catch (error) {
    if (await answers()) throw error
    return { default: Unreachable }
  }
})

function out<Path extends string>(path: Path, page: Load) {
  return createRoute({ getParentRoute: () => root, path, validateSearch: texts, component: load('out', page) })
}

/** Requires a session. Other users sign in first and return. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const me = await context.queries.ensureQueryData(meQuery)
    if (!me) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
    return { me }
  },
})

/**
 * The pages of a tenant. Users without one go to the platform or create one; users who have not
 * finished onboarding continue there.
 */
const tenant = createRoute({
  getParentRoute: () => signedIn,
  id: 'tenant',
  beforeLoad: async ({ context, location }) => {
    const { user, currentTenant } = context.me
    if (!currentTenant) throw redirect({ to: user.is_platform_admin ? '/platform' : '/onboarding' })
    const mine = user.tenants.find((one) => one.id === currentTenant.id)
    if (mine && !mine.onboarding_completed_at && location.pathname !== '/onboarding') throw redirect({ to: '/onboarding' })
    await context.queries.ensureQueryData(tenantQuery)
  },
  component: TenantShell,
})

const platform = createRoute({
  getParentRoute: () => signedIn,
  path: '/platform',
  beforeLoad: ({ context }) => {
    if (!context.me.user.is_platform_admin) throw redirect({ to: '/' })
  },
  component: PlatformShell,
})

const profileFrame = createRoute({ getParentRoute: () => signedIn, id: 'profile-frame', component: ProfileShell })

type Under = StaticDataRouteOption['under']

const tenantPage = <Path extends string>(path: Path, crumb: MessageDescriptor, page: Load, under?: Under, ...more: Area[]) =>
  createRoute({ getParentRoute: () => tenant, path, validateSearch: texts, staticData: { crumb, under }, component: load(['tenant', ...more], page) })

const platformPage = <Path extends string>(path: Path, crumb: MessageDescriptor, page: Load, under?: Under, ...more: Area[]) =>
  createRoute({ getParentRoute: () => platform, path, validateSearch: texts, staticData: { crumb, under }, component: load(['platform', ...more], page) })

/** The tabs of a tenant, below its header. */
const customer = createRoute({
  getParentRoute: () => platform, path: '/tenants/$tenantId', validateSearch: texts, staticData: { crumb: msg`Tenant`, under: { to: '/platform/tenants', crumb: msg`Tenants` } },
  component: load(['platform', 'lists', 'customer'], () => import('../pages/platform/Tenant')),
})

const customerTab = <Path extends string>(path: Path, page: Load, crumb?: MessageDescriptor, ...more: Area[]) =>
  createRoute({ getParentRoute: () => customer, path, validateSearch: texts, staticData: { crumb }, component: load(['platform', 'lists', 'customer', ...more], page) })

const profile = createRoute({
  getParentRoute: () => profileFrame, path: '/profile', validateSearch: texts, staticData: { crumb: msg`Profile` },
  component: load('profile', () => import('../pages/profile/Profile')),
})

const security = createRoute({
  getParentRoute: () => profileFrame, path: '/profile/security', validateSearch: texts,
  staticData: { crumb: msg`Security`, under: { to: '/profile', crumb: msg`Profile` } },
  component: load('profile', () => import('../pages/profile/Security')),
})

/** All components of the console, for developers. Only with the sandbox. */
const components = createRoute({
  getParentRoute: () => root, path: '/components', validateSearch: texts,
  beforeLoad: () => {
    if (!import.meta.env.DEV && !document.querySelector('meta[name=sandbox]')) throw notFound()
  },
  component: lazyRouteComponent(() => import('../pages/components/Components')),
})

/** Paths in mails and of the provider that lead to other pages. */
const leads = ([['/billing', '/plan'], ['/webhooks', '/developers'], ['/onboarding/success', '/onboarding'], ['/onboarding/plans', '/onboarding']] as const).map(
  ([from, to]) => createRoute({
    getParentRoute: () => root, path: from, validateSearch: texts,
    beforeLoad: ({ search }) => {
      const back = from === '/onboarding/success' ? { paid: '1' } : from === '/onboarding/plans' ? { left: '1' } : {}
      throw redirect({ to, search: { ...search, ...back }, replace: true })
    },
  }),
)

const routes = root.addChildren([
  out('/sign-in', () => import('../pages/out/SignIn')),
  out('/register', () => import('../pages/out/Register')),
  out('/forgot-password', () => import('../pages/out/ForgotPassword')),
  out('/reset-password', () => import('../pages/out/ResetPassword')),
  out('/verify-email', () => import('../pages/out/VerifyEmail')),
  out('/invitations/$token', () => import('../pages/out/Invitation')),
  out('/pricing', () => import('../pages/out/Pricing')),
  out('/onboarding', () => import('../pages/out/Onboarding')),
  ...leads,
  components,
  signedIn.addChildren([
    tenant.addChildren([
      tenantPage('/', msg`Home`, () => import('../pages/tenant/Home')),
      tenantPage('/plan', msg`Plan`, () => import('../pages/tenant/Plan')),
      tenantPage('/plan/usage', msg`Usage`, () => import('../pages/tenant/Usage'), { to: '/plan', crumb: msg`Plan` }),
      tenantPage('/invoices', msg`Invoices`, () => import('../pages/tenant/Invoices')),
      tenantPage('/invoices/$invoiceId', msg`Invoice`, () => import('../pages/tenant/Invoice'), { to: '/invoices', crumb: msg`Invoices` }),
      tenantPage('/team', msg`Team`, () => import('../pages/tenant/Team')),
      tenantPage('/team/roles', msg`Roles`, () => import('../pages/tenant/Roles')),
      tenantPage('/developers', msg`Developers`, () => import('../pages/tenant/Developers'), undefined, 'developers'),
      tenantPage('/developers/requests', msg`Requests`, () => import('../pages/tenant/Requests'), { to: '/developers', crumb: msg`Developers` }, 'developers'),
      tenantPage('/developers/webhooks/$endpointId', msg`Webhook endpoint`, () => import('../pages/tenant/WebhookEndpoint'), { to: '/developers', crumb: msg`Developers` }, 'developers'),
      tenantPage('/developers/webhooks/$endpointId/$deliveryId', msg`Deliveries`, () => import('../pages/tenant/Delivery'), { to: '/developers', crumb: msg`Developers` }, 'developers'),
      tenantPage('/activity', msg`Activity`, () => import('../pages/tenant/Activity')),
      tenantPage('/settings', msg`Settings`, () => import('../pages/tenant/Settings')),
      tenantPage('/settings/sign-in', msg`Sign-in`, () => import('../pages/tenant/SignInSettings'), { to: '/settings', crumb: msg`Settings` }),
    ]),
    platform.addChildren([
      platformPage('/', msg`Home`, () => import('../pages/platform/Home')),
      platformPage('/tenants', msg`Tenants`, () => import('../pages/platform/Tenants'), undefined, 'lists'),
      customer.addChildren([
        customerTab('/', () => import('../pages/platform/tenant/Overview')),
        customerTab('/usage', () => import('../pages/platform/tenant/Usage'), msg`Usage and limits`),
        customerTab('/invoices', () => import('../pages/platform/tenant/Invoices'), msg`Invoices`),
        customerTab('/invoices/$invoiceId', () => import('../pages/platform/tenant/InvoicePage'), msg`Invoice`),
        customerTab('/people', () => import('../pages/platform/tenant/People'), msg`People`),
        customerTab('/keys', () => import('../pages/platform/tenant/Keys'), msg`Keys and webhooks`, 'developers'),
        customerTab('/subscription', () => import('../pages/platform/tenant/Subscription'), msg`Subscription`),
        customerTab('/activity', () => import('../pages/platform/tenant/Activity'), msg`Activity`),
      ]),
      platformPage('/tenants/$tenantId/new-subscription', msg`New subscription`, () => import('../pages/platform/NewSubscription'), { to: '/platform/tenants', crumb: msg`Tenants` }, 'lists', 'customer'),
      platformPage('/invoices', msg`Invoices`, () => import('../pages/platform/Invoices'), undefined, 'lists', 'customer'),
      platformPage('/invoices/credit-notes', msg`Credit notes`, () => import('../pages/platform/CreditNotes'), { to: '/platform/invoices', crumb: msg`Invoices` }, 'lists'),
      platformPage('/subscriptions', msg`Subscriptions`, () => import('../pages/platform/Subscriptions'), undefined, 'lists'),
      platformPage('/people', msg`People`, () => import('../pages/platform/People'), undefined, 'lists'),
      platformPage('/catalog', msg`Catalog`, () => import('../pages/platform/Catalog')),
      platformPage('/catalog/plans/$planId', msg`Plan`, () => import('../pages/platform/PlanEditor'), { to: '/platform/catalog', crumb: msg`Catalog` }),
      platformPage('/catalog/features', msg`Features`, () => import('../pages/platform/Features'), { to: '/platform/catalog', crumb: msg`Catalog` }),
      platformPage('/catalog/packs', msg`Packs`, () => import('../pages/platform/Packs'), { to: '/platform/catalog', crumb: msg`Catalog` }),
      platformPage('/catalog/codes', msg`Promotion codes`, () => import('../pages/platform/Discounts'), { to: '/platform/catalog', crumb: msg`Catalog` }),
      platformPage('/meters', msg`Meters`, () => import('../pages/platform/Meters'), { to: '/platform/catalog', crumb: msg`Catalog` }),
      platformPage('/activity', msg`Activity`, () => import('../pages/platform/Activity')),
      platformPage('/analytics', msg`Analytics`, () => import('../pages/platform/Analytics'), undefined, 'analytics'),
      platformPage('/developers', msg`Developers`, () => import('../pages/platform/Developers'), undefined, 'developers'),
      platformPage('/developers/webhooks/$endpointId', msg`Webhook endpoint`, () => import('../pages/platform/WebhookEndpoint'), { to: '/platform/developers', crumb: msg`Developers` }, 'developers'),
      platformPage('/developers/deliveries', msg`Deliveries`, () => import('../pages/platform/Deliveries'), { to: '/platform/developers', crumb: msg`Developers` }, 'developers'),
      platformPage('/developers/deliveries/$deliveryId', msg`Deliveries`, () => import('../pages/platform/Deliveries'), { to: '/platform/developers', crumb: msg`Developers` }, 'developers'),
      platformPage('/developers/requests', msg`Requests`, () => import('../pages/platform/Requests'), { to: '/platform/developers', crumb: msg`Developers` }, 'developers'),
      platformPage('/settings', msg`Settings`, () => import('../pages/platform/Settings')),
      platformPage('/settings/admins', msg`Platform admins`, () => import('../pages/platform/Admins'), { to: '/platform/settings', crumb: msg`Settings` }),
    ]),
    profileFrame.addChildren([profile, security]),
  ]),
])

export function newRouter(queries: QueryClient) {
  return createRouter({
    routeTree: routes,
    basepath: new URL(document.baseURI).pathname,
    context: { queries },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 300,
    defaultPendingComponent: Pending,
    defaultErrorComponent: Failure,
    scrollRestoration: true,
    // Write filters to the URL without quotation marks around values that look like numbers.
    parseSearch: parseSearchWith((value) => value),
    stringifySearch: stringifySearchWith(String),
  })
}
