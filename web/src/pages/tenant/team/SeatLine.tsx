import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../../app/session'
import { Note } from '../../../ui/Messages'
import { useTeamStats } from '../shared/reads'

/** The number of seats to draw individually; more are only counted. */
const drawn = 40

/** The plan's seats, and how many are in use. */
export function SeatLine() {
  const { t } = useLingui()
  const may = useMay()
  const stats = useTeamStats().data?.data
  if (!stats) return <div className="seatline"><span className="skel w2" /></div>
  const { members, pending_invitations: invited, limit, total } = stats
  const people = plural(members, { one: '# member', other: '# members' })
  const waiting = plural(invited, { one: '# invitation', other: '# invitations' })
  const free = limit === null ? 0 : Math.max(0, limit - total)
  const spare = plural(free, { one: '# free seat', other: '# free seats' })
  const places = Math.max(limit ?? total, total)
  const more = may('billing.manage') && limit !== null && <Link className="end" to="/plan"><Trans>Get more seats</Trans></Link>
  return (
    <>
      <div className="seatline">
        {places <= drawn && (
          <div className="places" role="img" aria-label={limit === null ? t`${people}, ${waiting}` : t`${people}, ${waiting}, ${spare}`}>
            {Array.from({ length: places }, (_, i) => <i key={i} className={i < members ? 'full' : i < total ? 'held' : undefined} />)}
          </div>
        )}
        <p>
          <b>{limit === null ? <Plural value={total} one="# seat is taken" other="# seats are taken" /> : <Plural value={total} one={`# of ${limit} seats is taken`} other={`# of ${limit} seats are taken`} />}</b>{' '}
          <span className="muted">{invited > 0 ? <Trans>by {people} and {waiting}</Trans> : limit === null ? <Trans>no limit</Trans> : <Trans>by {people}</Trans>}</span>
        </p>
        {more}
      </div>
      {limit !== null && total > limit && (
        <div className="gap-top">
          <Note tone="warn" title={<Trans>Your team has more members than your plan allows</Trans>}>
            <Trans>All members keep their access, but new members cannot join until a seat is available.</Trans>
          </Note>
        </div>
      )}
    </>
  )
}
