import { Trans, useLingui } from '@lingui/react/macro'
import { useTenant } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { useSave } from './useSave'

export function NameForm() {
  const { t } = useLingui()
  const tenant = useTenant()
  const save = useSave()
  return (
    <Form className="stack form" guard onSubmit={(values) => save({ name: String(values.name).trim(), slug: String(values.slug).trim() })}>
      {({ busy, changed }) => (
        <>
          <TextField name="name" label={t`Name`} defaultValue={tenant.name} autoComplete="organization" help={<Trans>What your team and your invitations call it.</Trans>} />
          <TextField name="slug" label={t`Short name`} defaultValue={tenant.slug} autoComplete="off" spellCheck={false} help={<Trans>For addresses: letters, digits, dashes and underscores.</Trans>} />
          <div className="acts"><Button type="submit" look="primary" busy={busy} disabled={!changed}><Trans>Save the name</Trans></Button></div>
        </>
      )}
    </Form>
  )
}
