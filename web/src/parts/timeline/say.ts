import type { ReactNode } from 'react'
import type { Formats } from '../../app/format'
import type { IconName } from '../../ui/Icon'
import { sayChange } from './changes'
import { sayPayment, sayUsage } from './payments'
import { saySubscription } from './subscription'
import type { Entry } from './types'
import { sayDelivery } from './delivery'

/** An entry in words, with what it looks like. */
export interface Said {
  icon: IconName
  tone?: 'bad' | 'warn'
  text: ReactNode
  small?: ReactNode
}

/** Says in plain words what happened. A type that is not known here is shown by its name. */
export function say(entry: Entry, format: Formats): Said {
  return sayPayment(entry, format) ?? saySubscription(entry, format) ?? sayUsage(entry, format) ?? sayDelivery(entry, format) ?? sayChange(entry)
}
