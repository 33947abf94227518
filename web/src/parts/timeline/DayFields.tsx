import { Trans } from '@lingui/react/macro'
import { useFilters } from '../../app/filters'

/** The first and the last day of a list, stored in the URL as from and to. */
export function DayFields() {
  const [search, change] = useFilters()
  return (
    <>
      <label className="row t13"><span className="faint"><Trans>From</Trans></span>
        <input className="input dense w-auto" type="date" value={search.from ?? ''} onChange={(event) => change({ from: event.target.value || undefined })} />
      </label>
      <label className="row t13"><span className="faint"><Trans>To</Trans></span>
        <input className="input dense w-auto" type="date" value={search.to ?? ''} onChange={(event) => change({ to: event.target.value || undefined })} />
      </label>
    </>
  )
}
