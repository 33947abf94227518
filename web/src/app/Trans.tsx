import { Trans as LinguiTrans, type TransProps } from '@lingui/react'

/**
 * Characters that the message parser can interpret in a value: tags, escape sequences, line breaks.
 */
const special = /[<\\\n]/

/**
 * Trans for messages whose values come from users: Lingui's parser would interpret "<b>" in a name
 * as a tag of the message. It does not parse a value that is an element. The build replaces Trans
 * with this component (lingui.config.js).
 */
export function Trans(props: TransProps) {
  const values = Object.entries(props.values ?? {}).map(([key, value]) => [key, typeof value === 'string' && special.test(value) ? <>{value}</> : value])
  return <LinguiTrans {...props} values={Object.fromEntries(values)} />
}
