import { Trans as LinguiTrans, type TransProps } from '@lingui/react'

/** Characters that the message parser may interpret in a value: tags, escape sequences, line breaks. */
const special = /[<\\\n]/

/**
 * Trans for messages whose values come from people: the parser of Lingui would take "<b>" in a name
 * for a tag of the message. A value as an element never passes through it. The build puts this in
 * place of Trans (lingui.config.js).
 */
export function Trans(props: TransProps) {
  const values = Object.entries(props.values ?? {}).map(([key, value]) => [key, typeof value === 'string' && special.test(value) ? <>{value}</> : value])
  return <LinguiTrans {...props} values={Object.fromEntries(values)} />
}
