import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../../app/session'
import { Note } from '../../../ui/Messages'
import { useTeamStats } from '../shared/reads'

/** How many places are drawn one by one; more are only counted. */
const drawn = 40

/** How many places of the plan are taken, and by whom. */
export function SeatLine() {
  const { t } = useLingui()
  const may = useMay()
  const stats = useTeamStats().data?.data
  if (!stats) return <div className="seatline"><span className="skel w2" /></div>
  const { members, pending_invitations: invited, limit, total } = stats
  const people = plural(members, { one: '# person', other: '# people' })
  const waiting = plural(invited, { one: '# invitation', other: '# invitations' })
  const free = limit === null ? 0 : Math.max(0, limit - total)
  const spare = plural(free, { one: '# free place', other: '# free places' })
  const places = Math.max(limit ?? total, total)
  const more = may('billing.manage') && limit !== null && <Link className="end" to="/plan"><Trans>More places</Trans></Link>
  return (
    <>
      <div className="seatline">
        {places <= drawn && (
          <div className="places" role="img" aria-label={limit === null ? t`${people}, ${waiting}` : t`${people}, ${waiting}, ${spare}`}>
            {Array.from({ length: places }, (_, i) => <i key={i} className={i < members ? 'full' : i < total ? 'held' : undefined} />)}
          </div>
        )}
        <p>
          <b>{limit === null ? <Plural value={total} one="# place is taken" other="# places are taken" /> : <Plural value={total} one={`# of ${limit} places is taken`} other={`# of ${limit} places are taken`} />}</b>{' '}
          <span className="muted">{invited > 0 ? <Trans>by {people} and {waiting}</Trans> : limit === null ? <Trans>without a limit</Trans> : <Trans>by {people}</Trans>}</span>
        </p>
        {more}
      </div>
      {limit !== null && total > limit && (
        <div className="gap-top">
          <Note tone="warn" title={<Trans>The team is larger than the plan</Trans>}>
            <Trans>Everybody keeps their access, but nobody can join until there are places again.</Trans>
          </Note>
        </div>
      )}
    </>
  )
}
