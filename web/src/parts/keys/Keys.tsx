import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { Button } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Section } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { SecretDialog } from '../Secret'
import type { Scope } from '../scope'
import { keysQuery } from './api'
import { CreateKey } from './CreateKey'
import { KeyRow } from './KeyRow'

/** The API keys of the platform or a tenant: the list and the form to create one. */
export function Keys({ scope }: { scope: Scope }) {
  const { t } = useLingui()
  const [search] = useFilters()
  const keys = useQuery(keysQuery(scope, pageOf(search)))
  const [creating, setCreating] = useState(false)
  const [made, setMade] = useState<Schema<'NewAPIKey'>>()
  const create = <Button size="s" icon="plus" onClick={() => setCreating(true)}><Trans>New key</Trans></Button>
  return (
    <Section
      className="part" title={<Trans>API keys</Trans>} end={keys.data?.data.length ? create : undefined}
      lead={scope === 'platform'
        ? <Trans>Your applications authenticate with API keys. A platform key works for all tenants and grants only the permissions you choose.</Trans>
        : <Trans>Your applications authenticate with API keys. A key grants only the permissions you choose.</Trans>}
    >
      <Read query={keys}>
        {(page) => page.data.length === 0
          ? (
            <Empty slim icon="key" title={<Trans>No keys yet</Trans>} actions={<Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New key</Trans></Button>}>
              <Trans>Create one key per application so that you can revoke each one separately.</Trans>
            </Empty>
          )
          : (
            <>
              <table className="table mid cards rows keys">
                <thead>
                  <tr>
                    <th scope="col"><Trans>Name</Trans></th>
                    <th scope="col"><Trans>Permissions</Trans></th>
                    <th scope="col"><Trans>Last used</Trans></th>
                    <th scope="col"><Trans>Expires</Trans></th>
                    <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
                  </tr>
                </thead>
                <tbody>{page.data.map((key) => <KeyRow key={key.id} of={key} scope={scope} onMade={setMade} />)}</tbody>
              </table>
              <Pager meta={page.meta} />
            </>
          )}
      </Read>
      <CreateKey open={creating} scope={scope} onClose={() => setCreating(false)} onMade={setMade} />
      <SecretDialog secret={made?.secret} onClose={() => setMade(undefined)} title={<Trans>The key “{made?.name}”</Trans>}>
        <Trans>Store it with the secrets of your application. We keep only a hash and cannot show it again.</Trans>
      </SecretDialog>
    </Section>
  )
}
