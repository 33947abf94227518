import { useLingui } from '@lingui/react/macro'
import { useState, type CSSProperties, type ReactNode } from 'react'
import { Segments } from '../../ui/Field'
import { CopyQuiet } from '../../ui/Copy'

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g

/** Marks keys, strings and other values of a line of JSON. */
function marked(line: string): ReactNode[] {
  const parts: ReactNode[] = []
  let at = 0
  for (const found of line.matchAll(token)) {
    const [whole, text, colon, value] = found
    if (found.index > at) parts.push(line.slice(at, found.index))
    if (text) parts.push(colon ? <b key={at} className="k">{text}</b> : <i key={at} className="s">{text}</i>, colon ?? '')
    else parts.push(<i key={at} className="nu">{value}</i>)
    at = found.index + whole.length
  }
  return [...parts, line.slice(at)]
}

/** Returns JSON with a line for each value; undefined if the text is not JSON. */
function formatted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : undefined
  } catch {
    return undefined
  }
}

function Lines({ text, json }: { text: string; json: boolean }) {
  return (
    <pre tabIndex={0}>
      {text.split('\n').map((line, i) => {
        const depth = json ? line.search(/\S|$/) : 0
        return <span key={i} style={{ '--d': Math.min(depth, 24) } as CSSProperties}>{json ? marked(line.slice(depth)) : line || '\u00a0'}</span>
      })}
    </pre>
  )
}

/** A body with line numbers. JSON is formatted, and can be read as it was sent. */
export function Body({ title, type, text, copy, note }: {
  title: ReactNode; type?: string; text: string
  /** The label of the button that copies the text. */
  copy: string
  note?: ReactNode
}) {
  const { t } = useLingui()
  const [raw, setRaw] = useState(false)
  const json = formatted(text)
  return (
    <div className="code">
      <header>
        <b>{title}</b>{type && <span className="opt-h">{type}</span>}
        <div className="acts">
          {json !== undefined && <Segments className="s" label={t`Format`} value={raw ? 'raw' : 'formatted'} onChange={(to) => setRaw(to === 'raw')} options={[{ value: 'formatted', label: t`Formatted` }, { value: 'raw', label: t`Raw` }]} />}
          {text && <CopyQuiet text={text} label={copy} />}
        </div>
      </header>
      {text === '' ? <p className="none">{t`Empty`}</p> : <Lines text={json !== undefined && !raw ? json : text} json={json !== undefined && !raw} />}
      {note && <p className="none">{note}</p>}
    </div>
  )
}

/** Headers in the order of their names. */
export function Headers({ of }: { of: Record<string, string> }) {
  return (
    <table className="hdrs">
      <tbody>
        {Object.entries(of).map(([name, value]) => [name.toLowerCase(), value] as const).toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}
      </tbody>
    </table>
  )
}

/** Returns the value of a header. */
export const headerOf = (headers: Record<string, string>, name: string) => Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1]

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns a command that sends a request again. */
export function curlOf({ url, headers, body }: { url: string; headers: Record<string, string>; body: string }): string {
  return [`curl -X POST ${quoted(url)}`, ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), `--data-raw ${quoted(body)}`].join(' \\\n  ')
}
