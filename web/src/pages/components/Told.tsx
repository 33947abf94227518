import { Button } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import { Empty, Note, Skeleton } from '../../ui/Messages'
import { Part } from './Part'

/** Messages: what happened, what it means, what to do. */
export function Told() {
  return (
    <Part title="Messages" lead="The event, its meaning and the next step">
      <Note title="A change is waiting for your bank" actions={<><Button size="s" look="quiet">Revoke</Button><Button size="s">Confirm</Button></>}>
        Business begins as soon as you have confirmed the payment of €37.20; until tomorrow, 09:40, Team stays.
      </Note>
      <Note tone="warn" title="Signed documents will reach their limit around 24 November" actions={<Button size="s">View larger plans</Button>}>412 of 500 used.</Note>
      <Note tone="bad" role="status" title="Your card was declined on 1 December" actions={<Button size="s" look="primary">Pay €111.20</Button>}>
        Pay now, or use another card; else we try again on 4 December.
      </Note>
      <Note icon="bolt" title="No connection">Your changes are kept. Save them when you are back online.</Note>
      <div className="actas demo">
        <Icon name="eye" /><span><b>You are acting as Mia Hartmann</b> at Hartmann Interiors. Everything you do is recorded under your name.</span><Button size="s">Stop acting</Button>
      </div>
      <div className="grid-2">
        <Empty icon="key" title="No API keys yet" level="h3" actions={<Button look="primary">Create key</Button>}>A key lets your application record usage and read invoices without a user’s password.</Empty>
        <Empty icon="search" title="Nothing found for “Hartman”" level="h3" actions={<Button>Clear search</Button>}>Try another spelling. You can search for names, email addresses and numbers.</Empty>
      </div>
      <Skeleton lines={3} />
      <div className="danger-zone">
        <div><div><h3>Transfer ownership</h3><p>Another member becomes the owner. You become an admin.</p></div><Button>Transfer…</Button></div>
        <div>
          <div><h3>Delete Hartmann Interiors</h3><p>4 members lose access immediately. 2,841 documents are permanently deleted after 30 days. Until then, support can restore them.</p></div>
          <Button look="danger">Delete…</Button>
        </div>
      </div>
    </Part>
  )
}
