import { useFormat } from '../app/format'

/** A time: relative below a week with the exact one on hover, exact above. */
export function When({ at }: { at: string }) {
  const format = useFormat()
  return <time dateTime={at} title={format.exact(at)}>{format.ago(at)}</time>
}

/** A day. */
export function Day({ at }: { at: string }) {
  const format = useFormat()
  return <time dateTime={at} title={format.exact(at)}>{format.day(at)}</time>
}
