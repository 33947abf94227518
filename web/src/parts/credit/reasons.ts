import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Reason } from './api'

/** The words for the reason of a credit note. */
export const reasonWords: Record<Reason, MessageDescriptor> = {
  order_change: msg({ message: 'Order change', context: 'a reason' }),
  duplicate: msg({ message: 'Duplicate', context: 'a reason' }),
  fraudulent: msg({ message: 'Fraudulent', context: 'a reason' }),
  product_unsatisfactory: msg({ message: 'Product unsatisfactory', context: 'a reason' }),
  other: msg({ message: 'Other', context: 'a reason' }),
}
