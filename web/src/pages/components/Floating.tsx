import { useState } from 'react'
import { Button } from '../../ui/Button'
import { Confirm } from '../../ui/Confirm'
import { TextField } from '../../ui/Field'
import { Icon } from '../../ui/Icon'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { Part } from './Part'

/** Overlays, drawn open and to be opened. */
export function Floating() {
  const [asked, setAsked] = useState(false)
  return (
    <Part title="Floating" lead="The only shadow">
      <div className="specs">
        <More label="Open a menu"><MenuEntry icon="pencil">Edit</MenuEntry><MenuEntry icon="copy">Copy ID</MenuEntry><MenuLine /><MenuEntry icon="x" danger>Cancel subscription…</MenuEntry></More>
        <Button onClick={() => setAsked(true)}>Open a dialog</Button>
        <Button onClick={() => toast('Ben Achterberg is now an admin', { label: 'Undo', run: () => {} })}>Show a message</Button>
      </div>
      <Confirm open={asked} onClose={() => setAsked(false)} name="Hartmann Interiors" title="Delete Hartmann Interiors?" action="Delete" onConfirm={async () => {}}>
        <p>4 members lose access immediately. 2,841 documents are permanently deleted after 30 days.</p>
      </Confirm>
      <div className="grid-2">
        <div className="float-wrap">
          <div className="menu">
            <p className="cap">Hartmann Interiors</p>
            <a href="#components" className="is-hover"><Icon name="pencil" />Edit<kbd>E</kbd></a><a href="#components"><Icon name="eye" />Act as Mia Hartmann…</a><a href="#components"><Icon name="copy" />Copy ID</a>
            <hr /><a href="#components" className="danger"><Icon name="x" />Cancel subscription…</a>
          </div>
          <span className="tip">1 December 2026, 06:01</span>
        </div>
        <div className="float-wrap">
          <div className="dialog">
            <h3>Delete Hartmann Interiors?</h3><p>4 members lose access immediately. 2,841 documents are permanently deleted after 30 days.</p>
            <TextField name="typed" label="Type the name to continue" defaultValue="Hartmann Int" />
            <div className="acts"><Button>Keep subscription</Button><Button look="danger solid" disabled>Delete</Button></div>
          </div>
        </div>
        <div className="float-wrap">
          <div className="palette">
            <div className="ask"><Icon name="search" /><span>hartm</span></div>
            <div className="menu">
              <p className="cap">Tenants</p><a href="#components" className="is-hover"><Icon name="building" />Hartmann Interiors<Status tone="bad">Past due</Status></a>
              <p className="cap">Actions</p><a href="#components"><Icon name="eye" />Act as Mia Hartmann<span>↵</span></a>
            </div>
          </div>
        </div>
        <div className="float-wrap">
          <div className="toast"><Icon name="check" /><span>Ben Achterberg is now an admin</span><Button size="s" look="quiet" icon="undo">Undo</Button></div>
          <div className="toast"><Icon name="mail" /><span>Invitation sent to nora.feld@hartmann-interiors.example</span><Button size="s" look="quiet" icon="x" aria-label="Close" /></div>
          <div className="dialog">
            <h3>Your new key</h3><p>It is shown only once. Store it with the secrets of your application.</p>
            <div className="affix end"><input className="input mono" defaultValue="tnk_4Yd0bQ7uZrX2…" readOnly aria-label="The new key" /><button type="button" aria-label="Copy the key"><Icon name="copy" /></button></div>
            <div className="acts"><Button look="primary">I have saved it</Button></div>
          </div>
        </div>
      </div>
    </Part>
  )
}
