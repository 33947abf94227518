import { useState } from 'react'
import { Button } from '../../ui/Button'
import { Copy } from '../../ui/Copy'
import { AreaField, Check, Field, PasswordField, Segments, SelectField, Stepper, Switch, TextField } from '../../ui/Field'
import type { IconName } from '../../ui/Icon'
import { Part, Shown } from './Part'

type Look = Parameters<typeof Button>[0]['look']

const looks: { cap: string; look: Look; label: string; busy: string; icon?: IconName }[] = [
  { cap: 'The main action', look: 'primary', label: 'Pay €111.20', busy: 'Paying…' },
  { cap: 'All others', look: 'plain', label: 'Change plan', busy: 'Changing…' },
  { cap: 'Quiet, in rows and next to others', look: 'quiet', label: 'PDF', busy: 'Working…', icon: 'download' },
  { cap: 'Cannot be undone', look: 'danger', label: 'Delete', busy: 'Working…' },
]

function Buttons() {
  return (
    <Part title="Buttons" lead="One accent on a page; the label says what happens">
      {looks.map(({ cap, look, label, busy, icon }) => (
        <div key={cap} className="stack tight">
          <p className="cap">{cap}</p>
          <div className="specs">
            <Shown as="rest"><Button look={look} icon={icon}>{label}</Button></Shown>
            <Shown as="pointer"><Button look={look} icon={icon} className="is-hover">{label}</Button></Shown>
            <Shown as="focus"><Button look={look} icon={icon} className="is-focus">{label}</Button></Shown>
            <Shown as="at work"><Button look={look} busy>{busy}</Button></Shown>
            <Shown as="off"><Button look={look} icon={icon} disabled>{label}</Button></Shown>
          </div>
        </div>
      ))}
      <p className="cap">Sizes, links and ids</p>
      <div className="specs">
        <Button size="s">Resend</Button><Button>Resend</Button><Button size="big">Resend</Button>
        <Button icon="dots" aria-label="More" /><Button icon="dots" size="s" aria-label="More, small" />
        <a href="#components">A link</a><Copy text="cus_RkT4Lw2b8Qx9Xq" />
      </div>
    </Part>
  )
}

function Fields() {
  const [seats, setSeats] = useState(4)
  const [span, setSpan] = useState<'day' | 'month'>('day')
  return (
    <Part title="Fields" lead="Label above, help below, the error at its field">
      <div className="grid-3">
        <TextField name="rest" label="Name" placeholder="As on your letters" help="Printed on every invoice" />
        <Field label="Name, in focus" help="Focus">{({ bad, ...field }) => <input {...field} className={`input is-focus ${bad}`} defaultValue="Hartmann Interiors" />}</Field>
        <TextField name="vat" label="VAT number" defaultValue="ATU 1234" error="An Austrian number has eight digits after ATU." />
        <SelectField name="country" label="Country"><option>Austria</option><option>Belgium</option></SelectField>
        <TextField name="currency" label="Currency" hint="fixed" defaultValue="Euro" disabled help="Set with the first payment" />
        <Field label="Price">{({ bad, ...field }) => <div className="affix"><span>€</span><input {...field} className={`input ${bad}`} defaultValue="22.00" /></div>}</Field>
        <PasswordField name="password" label="Password" defaultValue="correct-horse" autoComplete="off" />
        <AreaField name="reason" label="Reason" hint="optional" placeholder="Why are you canceling?" />
        <div className="stack">
          <Check type="radio" name="when" defaultChecked small="Everything stays the same until 1 December">At the end of the month</Check>
          <Check type="radio" name="when" small="The rest is not refunded">Immediately</Check>
          <Check defaultChecked>Stay signed in</Check>
        </div>
        <div className="stack">
          <Switch defaultChecked>Email at 80%</Switch><Switch>Weekly email</Switch>
          <Stepper value={seats} onChange={setSeats} label="Seats" fewer="Fewer" more="More" />
          <Segments value={span} onChange={setSpan} label="Interval" options={[{ value: 'day', label: 'Day' }, { value: 'month', label: 'Month' }]} />
        </div>
      </div>
      <div className="form-foot"><Button look="primary">Save billing details</Button><Button look="quiet">Discard</Button><span className="t13 muted">From the next invoice on</span></div>
    </Part>
  )
}

/** Buttons and fields in all states. */
export function Controls() {
  return <><Buttons /><Fields /></>
}
