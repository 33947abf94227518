import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { now } from '../../../app/clock'
import { useMay, useTenant } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { useTeamStats } from '../shared/reads'

/** How long an organization counts as new. */
const newFor = 30 * 86_400_000

interface Step {
  done: boolean
  title: ReactNode
  text: ReactNode
  to: '/plan' | '/team' | '/settings'
  hash?: string
  action: ReactNode
}

/**
 * The first steps of a new organization. It disappears once they are complete, or after a month.
 */
export function Todo({ subscribed }: { subscribed: boolean }) {
  const tenant = useTenant()
  const may = useMay()
  const stats = useTeamStats().data?.data
  if (!stats || now() - new Date(tenant.created_at).getTime() > newFor) return null
  const steps: (Step | false)[] = [
    may('billing.manage') && {
      done: subscribed, to: '/plan', title: <Trans>Choose a plan</Trans>, action: <Trans>View plans</Trans>,
      text: <Trans>It determines which features you can use and how many seats your team has.</Trans>,
    },
    may('team.invite') && {
      done: stats.total > 1, to: '/team', title: <Trans>Invite your team</Trans>, action: <Trans>Invite members</Trans>,
      text: <Trans>Each person receives an invitation by email.</Trans>,
    },
    may('tenant.update') && {
      done: tenant.has_billing_details, to: '/settings', hash: 'billing', title: <Trans>Set up invoicing</Trans>, action: <Trans>Add billing details</Trans>,
      text: <Trans>Your address and VAT number appear on every invoice.</Trans>,
    },
  ]
  const all = steps.filter((step) => step !== false)
  const done = all.filter((step) => step.done).length + 1
  const count = all.length + 1
  if (all.length === 0 || done === count) return null
  const next = all.find((step) => !step.done)
  return (
    <Section title={<Trans>Get started</Trans>} end={<Trans>{done} of {count} done</Trans>}>
      <ol className="todo">
        <li className="done">
          <span className="st good"><span className="sr"><Trans>Done:</Trans> </span></span>
          <div><b><Trans>Create your organization</Trans></b><span>{tenant.name}</span></div>
        </li>
        {all.map((step) => (
          <li key={step.to + (step.hash ?? '')} className={step.done ? 'done' : step === next ? 'now' : undefined}>
            <span className={`st ${step.done ? 'good' : 'plain'}`}>{step.done && <span className="sr"><Trans>Done:</Trans> </span>}</span>
            <div><b>{step.title}</b><span>{step.text}</span></div>
            {!step.done && <ButtonLink to={step.to} hash={step.hash} look={step === next && subscribed ? 'primary' : 'plain'}>{step.action}</ButtonLink>}
          </li>
        ))}
      </ol>
    </Section>
  )
}
