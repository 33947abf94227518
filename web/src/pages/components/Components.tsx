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

/** All pieces of the console in all their states, for who works on it. It is in English only, as all pages of the sandbox. */
export default function Components() {
  const [theme, setTheme] = useState<Theme>(chosenTheme())
  useTitle('Components')
  return (
    <main className="spec" id="components" lang="en">
      <div className="page-head">
        <div><h1>Components</h1><p>All pieces of the console in all their states. The sizes and colours are those of src/styles/tokens.css.</p></div>
        <div className="acts">
          <Segments
            label="Theme" value={theme} onChange={(to) => { chooseTheme(to); setTheme(to) }}
            options={[{ value: 'system', label: 'As the system' }, { value: 'light', label: 'Light' }, { value: 'dark', label: 'Dark' }]}
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
