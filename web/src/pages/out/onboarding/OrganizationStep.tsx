import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'

/** Creates an organization for a user who has none. */
export function OrganizationStep() {
  const { t } = useLingui()
  const queries = useQueryClient()
  async function make(values: Values) {
    await api.POST('/api/v1/tenants', { body: { name: String(values.name) } })
    await queries.invalidateQueries()
  }
  return (
    <div>
      <h1><Trans>Name your organization</Trans></h1>
      <p className="muted"><Trans>You will be its owner. If you were invited to an organization, open the link in the invitation email instead.</Trans></p>
      <Form onSubmit={make}>
        {({ busy }) => (
          <>
            <TextField name="name" label={t`Organization`} autoComplete="organization" autoFocus />
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Continue</Trans></Button>
          </>
        )}
      </Form>
    </div>
  )
}
