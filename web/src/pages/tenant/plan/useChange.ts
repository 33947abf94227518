import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useFilters } from '../../../app/filters'
import { address, api, ApiError, type Schema } from '../../../api/client'
import { useHere, useRefresh } from '../shared/reads'
import { quantityOf, type Options } from './usePreview'

/** The return URL of the provider's page. */
const back = (how: 'paid' | 'left') => `${address('plan')}?checkout=${how}`

/** The choice in the URL, which is removed once it is made. */
const chosen = { plan: undefined, when: undefined, code: undefined, checkout: undefined }

/**
 * Changes the plan, or buys the first one; with cardFree, starts its trial without a payment page. The figures in a preview_outdated error replace the
 * shown ones.
 */
export function useChange(options: Options, subscription: Schema<'Subscription'> | null, previewKey: QueryKey, cardFree: boolean) {
  const here = useHere()
  const queries = useQueryClient()
  const refresh = useRefresh()
  const [, filter] = useFilters()
  const urls = { success_url: back('paid'), cancel_url: back('left') }
  const { plan, currency, when } = options
  const quantity = quantityOf(options)
  const promotion_code = when === 'now' ? options.code : undefined

  async function done(result: '1' | undefined) {
    // Clear the choice first, so that its preview is not loaded again.
    filter({ ...chosen, done: result })
    await refresh('/subscription', '/plans', '/invoices', '/usage', '/team', '/entitlements', '/audit-logs', '/billing', '/timeline')
    window.scrollTo({ top: 0 })
  }

  async function begin() {
    if (cardFree) {
      await api.POST('/api/v1/tenant/{tenantId}/subscription/trial', { ...here, body: { plan_id: plan.id, currency, quantity, promotion_code } })
      return done('1')
    }
    const { data } = await api.POST('/api/v1/tenant/{tenantId}/checkout', { ...here, body: { plan_id: plan.id, currency, quantity, promotion_code, ...urls } })
    location.assign(data!.data.url)
  }

  async function change() {
    const later = when === 'period_end'
    const { data } = await api.POST('/api/v1/tenant/{tenantId}/subscription/change-plan', {
      ...here, body: { new_plan_id: plan.id, quantity, promotion_code, when, ...urls },
    })
    const { action, checkout_url: page, payment_action: confirmation } = data!.data
    if (action === 'checkout_required' && page) return location.assign(page)
    if (action === 'confirmation_required' && confirmation) return location.assign(confirmation.url)
    // A scheduled change is shown above the plans.
    await done(later ? undefined : '1')
  }

  return useMutation({
    mutationFn: () => (subscription ? change() : begin()),
    onError: async (error) => {
      if (!(error instanceof ApiError)) return
      if (error.code === 'preview_outdated' && error.body.preview) queries.setQueryData(previewKey, { data: error.body.preview })
      if (error.code === 'subscription_already_exists') await refresh('/subscription')
      if (error.code === 'trial_not_available') await refresh('/checkout/preview')
      // Read the amounts again without the code.
      if (error.code === 'promotion_code_invalid') await (subscription ? queries.invalidateQueries({ queryKey: previewKey }) : refresh('/checkout/preview'))
    },
  })
}
