import { Trans, useLingui } from '@lingui/react/macro'
import { useQueries } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../../api/client'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { countQuery, type List, type Params } from './reads'
import { filtersIn, isSame, type Search } from './place'
import { useSavedViews, type View } from './views'

/**
 * The views of a list as tabs with the number of their rows; on a phone, a selection. The filters in
 * the address can be saved under a name in this browser.
 */
export function Views({ list, views, paramsOf }: {
  list: List; views: View[]
  /** Returns the request of the filters of a view. */
  paramsOf: (search: Search) => Params
}) {
  const { t } = useLingui()
  const format = useFormat()
  const navigate = useNavigate()
  const [search] = useFilters()
  const saved = useSavedViews(list)
  const [saving, setSaving] = useState(false)
  const known = [...views, ...saved.views]
  const counts = useQueries({ queries: known.map((one) => countQuery(list, paramsOf(one.search))) })
  const all = known.map((one, i) => ({ ...one, count: counts[i]?.data?.total }))
  const found = all.findIndex((one) => isSame(one.search, search))
  const here = all[found === -1 ? 0 : found]!
  const removable = found >= views.length ? here : undefined
  const isNew = found === -1 && Object.keys(filtersIn(search)).length > 0
  const numbered = (of: View & { count?: number }) => (of.count === undefined ? of.name : `${of.name} (${format.number(of.count)})`)
  return (
    <div className="views">
      <nav className="tabs" aria-label={t`Views`}>
        {all.map((one, i) => (
          <Link key={`${i}${one.name}`} to="." search={one.search} resetScroll={false} activeProps={{}} activeOptions={{ exact: true, includeSearch: true }} aria-current={one === here ? 'page' : undefined}>
            {one.name} {one.count !== undefined && <span>{format.number(one.count)}</span>}
          </Link>
        ))}
      </nav>
      <div className="tabs-pick">
        <select className="select" aria-label={t`View`} value={all.indexOf(here)} onChange={(event) => void navigate({ to: '.', search: all[Number(event.target.value)]!.search, resetScroll: false })}>
          {all.map((one, i) => <option key={`${i}${one.name}`} value={i}>{numbered(one)}</option>)}
        </select>
      </div>
      {isNew && <Button size="s" look="quiet" icon="flag" onClick={() => setSaving(true)}><Trans>Save view</Trans></Button>}
      {removable && (
        <Button
          size="s" look="quiet" icon="x"
          onClick={() => {
            const { name, search: filters } = removable
            saved.remove(name)
            toast(<Trans>The view “{name}” was removed.</Trans>, { label: t`Undo`, run: () => saved.save(name, filters) })
          }}
        >
          <Trans>Remove view</Trans>
        </Button>
      )}
      <Dialog open={saving} onClose={() => setSaving(false)} title={<Trans>Save view</Trans>}>
        <Form
          className="stack"
          onSubmit={async (values) => {
            const name = String(values.view_name).trim()
            if (!name) throw new ApiError(422, '', undefined, { view_name: [t`Enter a name.`] })
            saved.save(name, search)
            setSaving(false)
          }}
        >
          {() => (
            <>
              <p className="flat"><Trans>The filters and the search are kept under a name in this browser.</Trans></p>
              <TextField name="view_name" label={t`Name`} maxLength={60} autoComplete="off" data-autofocus />
              <div className="acts">
                <Button onClick={() => setSaving(false)}><Trans>Cancel</Trans></Button>
                <Button type="submit" look="primary"><Trans>Save view</Trans></Button>
              </div>
            </>
          )}
        </Form>
      </Dialog>
    </div>
  )
}
