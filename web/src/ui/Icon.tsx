import { drawings, type IconName } from './drawings'

export type { IconName }

/** A 16 by 16 icon in the color of the text. It is decorative: a word is next to it. */
export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg className={`i ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawings[name]} />
    </svg>
  )
}
