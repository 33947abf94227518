import type { CSSProperties } from 'react'
import { Events } from '../../parts/timeline/Events'
import type { Entry } from '../../parts/timeline/types'
import { now } from '../../app/clock'
import { Button } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Icon } from '../../ui/Icon'
import { Pager } from '../../ui/Pager'
import { Status, type Tone } from '../../ui/Status'
import { Part } from './Part'

const states: [Tone, string][] = [
  ['good', 'Active'], ['good', 'Paid'], ['wait', 'In trial until 16 December'], ['wait', 'Invited'], ['plain', 'Draft'], ['warn', 'Ends 8 December'],
  ['warn', 'Not there'], ['bad', 'Past due'], ['bad', 'Differs'], ['off', 'Void'], ['off', 'Canceled'],
]

const bars = [
  { name: 'Archive', below: 'well inside', look: '', v: 0.36, f: 0.42, figure: '18.2 of 50 GB', remark: '≈ 21 GB at today’s pace' },
  { name: 'Signed documents', below: 'over it soon', look: 'warn', v: 0.824, f: 1.272, figure: '412 of 500', remark: '≈ 636 at today’s pace' },
  { name: 'Signed documents', below: 'reached', look: 'bad', v: 1, f: 1, figure: '500 of 500', remark: '31 refused' },
  { name: 'Archive', below: 'over a soft limit', look: 'bad', v: 1.18, f: 1.18, figure: '59 of 50 GB', remark: '9 GB over' },
]

function Table() {
  const skeleton = (width: number) => <span className="skel" style={{ width }} />
  return (
    <Part title="Table" lead="The row is the link; on a phone a card">
      <table className="table cards inv">
        <thead>
          <tr>
            <th scope="col" aria-sort="descending"><button type="button">Period <Icon name="down" /></button></th><th scope="col">Description</th><th scope="col">Number</th>
            <th scope="col">Status</th><th scope="col" className="num">Amount</th><th scope="col" className="fit"><span className="sr">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td className="k1"><a className="rowlink" href="#components">December 2026</a></td><td className="k2">Team, 4 seats<small>Jonas Weiss from 12 November, €15.20</small></td>
            <td className="k3 muted">2026-004127</td><td className="k4"><Status tone="bad">Open</Status><small>Card declined</small></td>
            <td className="num k5"><b>€111.20</b></td><td className="acts-cell k6"><Button size="s">Pay</Button></td>
          </tr>
          <tr>
            <td className="k1"><a className="rowlink" href="#components">November 2026</a></td><td className="k2">Team, 3 seats</td><td className="k3 muted">2026-003588</td>
            <td className="k4"><Status tone="good">Paid</Status><small>1 November</small></td><td className="num k5"><b>€72.00</b></td>
            <td className="acts-cell k6"><Button size="s" look="quiet" icon="download">PDF</Button></td>
          </tr>
          <tr aria-busy="true">
            <td className="k1">{skeleton(96)}</td><td className="k2">{skeleton(120)}</td><td className="k3">{skeleton(76)}</td><td className="k4">{skeleton(64)}</td>
            <td className="num k5">{skeleton(52)}</td><td className="k6" />
          </tr>
        </tbody>
      </table>
      <Pager meta={{ current_page: 1, last_page: 52, per_page: 25, total: 1284 }} />
      <nav className="tabs" aria-label="Tabs"><a href="#components" aria-current="page">Deliveries <span>42</span></a><a href="#components">Attempts</a><a href="#components">Settings</a></nav>
    </Part>
  )
}

function sums(title: string, rows: [string, string, string][], sum: [string, string], next: [string, string, string]) {
  return (
    <div className="receipt">
      <h3>{title}</h3>
      <dl>
        {rows.map(([name, small, amount]) => <div key={name}><dt>{name}<small>{small}</small></dt><dd>{amount}</dd></div>)}
        <div className="sum"><dt>{sum[0]}</dt><dd>{sum[1]}</dd></div>
        <div className="next"><dt>{next[0]}<small>{next[1]}</small></dt><dd>{next[2]}</dd></div>
      </dl>
    </div>
  )
}

function happened(): Entry[] {
  const at = (days: number) => new Date(now() - days * 86_400_000).toISOString()
  const shared = { tenant: null, actor: null, acting_as: null, api_key: null, by: 'service' as const }
  const payment = { invoice: null, number: null, currency: 'EUR', decline_code: null, decline_message: null, next_attempt_at: null }
  const ada = { id: 1, name: 'Mia Hartmann' }
  return [
    { ...shared, id: '1', type: 'payment.failed', kind: 'payments', at: at(0.002), facts: { ...payment, amount: 11120, decline_message: 'Insufficient funds.', next_attempt_at: at(-3) } },
    { ...shared, id: '2', type: 'usage.alert', kind: 'usage', at: at(2), facts: { meter: 'documents', meter_name: 'Signed documents', limit: '500', used: '500', refused: null, threshold: 100 } },
    { ...shared, id: '3', type: 'webhook.failed', kind: 'webhooks', at: at(4), facts: { endpoint: '1', url: 'https://hooks.quillmark.example', event_type: 'subscription.past_due', status: 500, attempts: 7 } },
    { ...shared, id: '4', type: 'member.role_changed', kind: 'changes', at: at(12), actor: ada, by: 'user', facts: { resource: 'user', resource_id: '2', resource_name: 'Ben Achterberg', before: { role: 'member' }, after: { role: 'admin' } } },
    { ...shared, id: '5', type: 'payment.succeeded', kind: 'payments', at: at(20), facts: { ...payment, amount: 7200 } },
  ]
}

/** Statuses, bars, tables, receipts and events. */
export function Figures() {
  return (
    <>
      <Part title="Status" lead="A shape and a word; color is the third hint">
        <div className="specs">{states.map(([tone, word]) => <Status key={word} tone={tone}>{word}</Status>)}</div>
        <Chips name="show" value="all" label="Show" options={[{ value: 'all', label: 'All', count: 12 }, { value: 'open', label: 'Open', count: 1 }, { value: 'paid', label: 'Paid', count: 10 }]} />
        <div className="specs"><span className="tag">Now</span><span className="delta up">38 in 30 days</span><span className="delta up worse">3 since yesterday</span><span className="delta down">18% fewer</span></div>
      </Part>
      <Part title="Bars" lead="The limit is at three quarters, to show usage over the limit; hatching is the forecast">
        <div className="bars">
          <div className="bar head" aria-hidden="true"><div /><div className="limit"><span>Limit</span></div><div /></div>
          {bars.map((bar) => (
            <div key={bar.name + bar.below} className="bar">
              <div className="name"><b>{bar.name}</b><span>{bar.below}</span></div>
              <div className={`track ${bar.look}`} style={{ '--v': bar.v, '--f': bar.f } as CSSProperties}><i />{bar.f > bar.v && <u />}</div>
              <div className="fig"><b>{bar.figure}</b><span>{bar.remark}</span></div>
            </div>
          ))}
        </div>
        <div className="row">
          <div className="places" role="img" aria-label="Four seats taken, one held, five free">
            {Array.from({ length: 10 }, (_, i) => <i key={i} className={i < 4 ? 'full' : i === 4 ? 'held' : undefined} />)}
          </div>
          <span className="t13 muted">taken, held by an invitation, free</span>
        </div>
      </Part>
      <Table />
      <Part title="Receipt" lead="The amount due now and its parts">
        <div className="grid-2">
          {sums(
            'Business, 4 seats, starting today',
            [['Business', '4 × €39.00, 11 of 30 days', '€57.20'], ['Credit for Team', '4 × €24.00, 11 of 30 days', '−€35.20'], ['Pending: Jonas Weiss', '1 × €24.00, 19 of 30 days', '€15.20']],
            ['To pay now', '€37.20'], ['Next regular invoice', '1 December, 4 × €39.00', '€156.00'],
          )}
          {sums(
            'Starter, starting today',
            [['Starter', '€19.00, 11 of 30 days', '€6.97'], ['Credit for Team', '3 × €24.00, 11 of 30 days', '−€26.40']],
            ['Credit for your next invoices', '€19.43'], ['Next regular invoice', '1 December, €19.00, paid from the credit', '€0.00'],
          )}
        </div>
      </Part>
      <Part title="History" lead="Plain words, exact time under the pointer">
        <Events entries={happened()} />
        <ol className="steps">
          <li className="done"><i><Icon name="check" /></i><span>Account</span></li><li className="done"><i><Icon name="check" /></i><span>Plan</span></li>
          <li aria-current="step"><i>3</i><span>Payment</span></li><li><i>4</i><span>Details</span></li>
        </ol>
      </Part>
    </>
  )
}
