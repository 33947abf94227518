import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { offered } from '../../../app/locale'
import { tenantQuery, useSettings, useTenant } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { SelectField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { localeOf } from './locale'
import { useSave } from './useSave'

/** The language of mails and documents, which is one of the settings of the organization. */
export function LanguageForm() {
  const { t } = useLingui()
  const tenant = useTenant()
  const { locales } = useSettings()
  const queries = useQueryClient()
  const save = useSave()

  async function change(values: Values) {
    // The service replaces all settings, so read the current ones, which other programs may have changed.
    const { settings } = await queries.fetchQuery({ ...tenantQuery, staleTime: 0 })
    const { locale: _, ...others } = settings ?? {}
    await save({ settings: values.locale ? { ...others, locale: String(values.locale) } : others })
  }
  return (
    <Form className="stack form" guard onSubmit={change}>
      {({ busy, changed }) => (
        <>
          <SelectField name="locale" label={t`Language of emails and documents`} defaultValue={localeOf(tenant, locales) ?? ''} help={<Trans>For emails to all members, and for invoices. Members choose the language of these pages in their profile.</Trans>}>
            <option value="">{t`Language of the recipient`}</option>
            {offered(locales).map(([code, name]) => <option key={code} value={code}>{name}</option>)}
          </SelectField>
          <div className="acts"><Button type="submit" look="primary" busy={busy} disabled={!changed}><Trans>Save language</Trans></Button></div>
        </>
      )}
    </Form>
  )
}
