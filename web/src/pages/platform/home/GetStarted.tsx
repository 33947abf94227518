import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../../api/client'
import { useSettings } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { usePlatformMay } from '../may'
import type { Stats } from './stats'

interface Step {
  key: string
  done: boolean
  title: ReactNode
  text: ReactNode
  to: '/platform/catalog' | '/platform/settings' | '/platform/developers' | '/pricing'
  action: ReactNode
}

const has = (what: string, read: () => Promise<number>) => ({ queryKey: ['has', what], queryFn: async () => (await read()) > 0 })

/** Reads whether the platform has plans and API keys. */
export function useIsStarted() {
  const may = usePlatformMay()
  const plans = useQuery({ ...has('plans', async () => (await api.GET('/api/v1/catalog/plans')).data!.data.length) })
  const keys = useQuery({ ...has('keys', async () => (await api.GET('/api/v1/admin/api-keys')).data!.data.length), enabled: may('api_keys.manage') })
  return { plans, keys }
}

/** The first steps of a new platform. It disappears once they are complete. */
export function GetStarted({ of }: { of: Stats }) {
  const may = usePlatformMay()
  const settings = useSettings()
  const { plans, keys } = useIsStarted()
  if (plans.isPending || keys.isLoading) return null
  const steps: (Step | false)[] = [
    may('plans.create') && {
      key: 'plan', done: plans.data === true, to: '/platform/catalog', title: <Trans>Sell your first plan</Trans>, action: <Trans>Open the catalog</Trans>,
      text: <Trans>A plan with a price goes on sale as soon as it is active.</Trans>,
    },
    {
      key: 'brand', done: settings.support_email !== null, to: '/platform/settings', title: <Trans>Add your branding</Trans>, action: <Trans>View settings</Trans>,
      text: <Trans>Name, logo and support address appear in emails, on pages and on invoices.</Trans>,
    },
    may('api_keys.manage') && {
      key: 'key', done: keys.data === true, to: '/platform/developers', title: <Trans>Connect your product</Trans>, action: <Trans>Create an API key</Trans>,
      text: <Trans>Your product uses an API key to read plans and limits and to record usage.</Trans>,
    },
    {
      key: 'tenant', done: of.tenants.total > 0, to: '/pricing', title: <Trans>Welcome your first customer</Trans>, action: <Trans>View pricing page</Trans>,
      text: <Trans>Customers sign up on the pricing page.</Trans>,
    },
  ]
  const all = steps.filter((step) => step !== false)
  const [done, count] = [all.filter((step) => step.done).length, all.length]
  if (done === count) return null
  return (
    <Section title={<Trans>Get started</Trans>} end={<Trans>{done} of {count} done</Trans>}>
      <ol className="todo">
        {all.map((step) => (
          <li key={step.key} className={step.done ? 'done' : step === all.find((one) => !one.done) ? 'now' : undefined}>
            <span className={`st ${step.done ? 'good' : 'plain'}`}>{step.done && <span className="sr"><Trans>Done:</Trans> </span>}</span>
            <div><b>{step.title}</b><span>{step.text}</span></div>
            {!step.done && <ButtonLink to={step.to}>{step.action}</ButtonLink>}
          </li>
        ))}
      </ol>
    </Section>
  )
}
