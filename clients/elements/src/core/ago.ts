import { formats } from './format'

/** 3 minutes ago below a week, else the day. */
export function ago(language: string, at: string): string {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const seconds = (new Date(at).getTime() - Date.now()) / 1000
  const size = Math.abs(seconds)
  if (size < 45) return relative.format(0, 'second')
  if (size < 3600) return relative.format(Math.round(seconds / 60), 'minute')
  if (size < 86_400) return relative.format(Math.round(seconds / 3600), 'hour')
  if (size < 7 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day')
  return formats(language).day(at)
}
