import { useFormat } from '../app/format'

/** A time: relative for less than a week, with the exact time on hover; otherwise exact. */
export function When({ at }: { at: string }) {
  const format = useFormat()
  return <time dateTime={at} title={format.exact(at)}>{format.ago(at)}</time>
}

/** A day. */
export function Day({ at }: { at: string }) {
  const format = useFormat()
  return <time dateTime={at} title={format.exact(at)}>{format.day(at)}</time>
}
