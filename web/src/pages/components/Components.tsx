import { useState } from 'react'
import { chooseTheme, chosenTheme, type Theme } from '../../app/theme'
import { Segments } from '../../ui/Field'
import { useTitle } from '../../ui/Page'
import { Controls } from './Controls'
import { Figures } from './Figures'
import { Floating } from './Floating'
import { Told } from './Told'
import { Tokens } from './Tokens'
import '../../styles/components.css'

/**
 * All components of the console in all states, for developers. Only in English, like all pages of
 * the sandbox.
 */
export default function Components() {
  const [theme, setTheme] = useState<Theme>(chosenTheme())
  useTitle('Components')
  return (
    <main className="spec" id="components" lang="en">
      <div className="page-head">
        <div><h1>Components</h1><p>All components of the console in all states. Sizes and colors come from src/styles/tokens.css.</p></div>
        <div className="acts">
          <Segments
            label="Theme" value={theme} onChange={(to) => { chooseTheme(to); setTheme(to) }}
            options={[{ value: 'system', label: 'Match system' }, { value: 'light', label: 'Light' }, { value: 'dark', label: 'Dark' }]}
          />
        </div>
      </div>
      <Tokens />
      <Controls />
      <Figures />
      <Told />
      <Floating />
    </main>
  )
}
