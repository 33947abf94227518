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
          <TextField name="name" label={t`Name`} defaultValue={tenant.name} autoComplete="organization" help={<Trans>Shown to your team and in invitations.</Trans>} />
          <TextField name="slug" label={t`Short name`} defaultValue={tenant.slug} autoComplete="off" spellCheck={false} help={<Trans>Used in URLs: letters, digits, hyphens and underscores.</Trans>} />
          <div className="acts"><Button type="submit" look="primary" busy={busy} disabled={!changed}><Trans>Save name</Trans></Button></div>
        </>
      )}
    </Form>
  )
}
