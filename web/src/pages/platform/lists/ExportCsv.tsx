import { Trans } from '@lingui/react/macro'
import { ButtonAnchor } from '../../../ui/Button'
import { csvOf, type List, type Params } from './reads'

/** Downloads every row that matches the filters, in the order of the list. */
export function ExportCsv({ list, params }: { list: List; params: Params }) {
  return <ButtonAnchor icon="download" href={csvOf(list, params)} download={`${list}.csv`}><Trans>Export CSV</Trans></ButtonAnchor>
}
