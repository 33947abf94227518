import { Trans } from '@lingui/react/macro'
import { useFormat } from '../../app/format'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { usePlatformMay } from './may'

/** Names the permissions of a page that the user does not have. */
export function MissingPermission({ needs, slim }: { needs: string[]; slim?: boolean }) {
  const may = usePlatformMay()
  const format = useFormat()
  const missing = needs.filter((one) => !may(one))
  const names = format.list(missing.map((one) => `“${one}”`))
  return (
    <Empty slim={slim} icon="lock" title={<Trans>You don’t have access to this page</Trans>}>
      {missing.length > 1 ? <Trans>Ask an operator for the permissions {names}.</Trans> : <Trans>Ask an operator for the permission {names}.</Trans>}
    </Empty>
  )
}

/** Shown instead of a page that the user's permissions do not allow. */
export function NotAllowed({ title, needs }: { title: string; needs: string[] }) {
  return <Page title={title}><MissingPermission needs={needs} /></Page>
}
