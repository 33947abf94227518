import { Trans, useLingui } from '@lingui/react/macro'
import { api } from '../../api/client'
import { offered, showIn, type Language } from '../../app/locale'
import { useMe, useSettings } from '../../app/session'
import { Button } from '../../ui/Button'
import { SelectField, TextField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import { toast } from '../../ui/Toast'
import { useReadAgain } from './useProfile'

/** The name and the language. Saving also switches the console's language. */
export function NameForm() {
  const { t } = useLingui()
  const { user } = useMe()
  const { locales } = useSettings()
  const readAgain = useReadAgain()

  async function save(values: Values) {
    const locale = (values.locale || null) as Language | null
    await api.PATCH('/api/v1/user', { body: { name: String(values.name).trim(), locale } })
    if (locale && locale !== user.locale) await showIn(locale, true)
    await readAgain()
    toast(t`Saved`)
  }
  return (
    <Form className="stack form" guard onSubmit={save}>
      {({ busy, changed }) => (
        <>
          <TextField name="name" label={t`Name`} defaultValue={user.name} autoComplete="name" />
          <SelectField name="locale" label={t`Language`} defaultValue={user.locale ?? ''} help={<Trans>For emails that you receive and for these pages.</Trans>}>
            <option value="">{t`Same as the organization`}</option>
            {offered(locales).map(([code, name]) => <option key={code} value={code}>{name}</option>)}
          </SelectField>
          <div className="acts"><Button type="submit" look="primary" busy={busy} disabled={!changed}><Trans>Save</Trans></Button></div>
        </>
      )}
    </Form>
  )
}
