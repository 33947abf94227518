import { drawings, type IconName } from './drawings'

export type { IconName }

/** A drawing of 16 by 16 in the colour of the text. It says nothing by itself: a word stands beside it. */
export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg className={`i ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawings[name]} />
    </svg>
  )
}
