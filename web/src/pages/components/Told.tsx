import { Button } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import { Empty, Note, Skeleton } from '../../ui/Messages'
import { Part } from './Part'

/** What the console tells: what happened, what it means, what to do. */
export function Told() {
  return (
    <Part title="Messages" lead="What happened, what it means, what to do">
      <Note title="A change waits for your bank" actions={<><Button size="s" look="quiet">Take back</Button><Button size="s">Confirm</Button></>}>
        Business begins as soon as you have confirmed the payment of €37.20; until tomorrow, 09:40, Team stays.
      </Note>
      <Note tone="warn" title="Signed documents run out around 24 November" actions={<Button size="s">See larger plans</Button>}>412 of 500 are used.</Note>
      <Note tone="bad" role="status" title="Your card was declined on 1 December" actions={<Button size="s" look="primary">Pay €111.20</Button>}>
        Pay now, or use another card; else we try again on 4 December.
      </Note>
      <Note icon="bolt" title="No connection">What you wrote is kept. We save it as soon as you are back.</Note>
      <div className="actas demo">
        <Icon name="eye" /><span><b>You are acting as Mia Hartmann</b> at Hartmann Interiors. What you do is recorded under your name.</span><Button size="s">Stop acting</Button>
      </div>
      <div className="grid-2">
        <Empty icon="key" title="No API keys yet" level="h3" actions={<Button look="primary">Make a key</Button>}>A key lets your own program send usage and read invoices, without a person’s password.</Empty>
        <Empty icon="search" title="Nothing found for “Hartman”" level="h3" actions={<Button>Clear the search</Button>}>Names, emails and numbers are searched. Perhaps with another spelling?</Empty>
      </div>
      <Skeleton lines={3} />
      <div className="danger-zone">
        <div><div><h3>Hand over to somebody else</h3><p>A member becomes the owner, you become an Admin.</p></div><Button>Hand over…</Button></div>
        <div>
          <div><h3>Delete Hartmann Interiors</h3><p>4 people lose access at once. 2,841 documents are deleted for good after 30 days; until then support can bring them back.</p></div>
          <Button look="danger">Delete…</Button>
        </div>
      </div>
    </Part>
  )
}
