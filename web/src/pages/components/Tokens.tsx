import type { CSSProperties } from 'react'
import { Button } from '../../ui/Button'
import { Part, Shown } from './Part'

const accents = [['Petrol', '#0b6470'], ['Plum', '#7b2d5e'], ['Ink blue', '#24408e'], ['Sunflower', '#f2c200']] as const

const roles = [
  ['ground', 'surface', 'sunken', 'raised', 'hover', 'pressed', 'line', 'line-2', 'line-field'],
  ['ink', 'ink-2', 'ink-3', 'good', 'warn', 'bad', 'warn-wash', 'bad-wash', 'fill'],
]

/** The colors and the type. */
export function Tokens() {
  return (
    <>
      <Part title="Accent" lead="One value, set by the customer; its lightness is clamped for contrast">
        <div className="specs">
          {accents.map(([name, value]) => (
            <Shown key={name} as={<>{name} <code>{value}</code></>}>
              <span style={{ '--accent': value } as CSSProperties} className="accent-demo"><Button look="primary">Pay €111.20</Button></span>
            </Shown>
          ))}
        </div>
      </Part>
      <Part title="Color" lead="Roles, not hues">
        {roles.map((row) => (
          <div key={row[0]} className="specs">{row.map((role) => <div key={role} className="swatch"><i style={{ background: `var(--${role})` }} />{role}</div>)}</div>
        ))}
      </Part>
      <Part title="Type" lead="Inter Variable, served by the service itself">
        <ul className="scale">
          <li><span>26 / 34, 600</span><b className="t26">Team, 4 seats — €111.20 on 1 December</b></li>
          <li><span>20 / 28, 600: title</span><b className="t20">Mitgliederverwaltung und Rollenberechtigungen</b></li>
          <li><span>14 / 20, 600: section</span><b className="t14">Usage in November</b></li>
          <li><span>14 / 20: body</span><span>Each member costs €24.00 a month from the day they join.</span></li>
          <li><span>13 / 20: tables</span><span className="t13 tnum">2026-004127 &nbsp; 1 December &nbsp; €111.20</span></li>
          <li><span>12 / 16: help, times</span><span className="small faint">Three digits on the back</span></li>
        </ul>
      </Part>
    </>
  )
}
