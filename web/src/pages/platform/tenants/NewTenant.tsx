import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api, ApiError } from '../../../api/client'
import { countries } from '../../../app/countries'
import { useFormat } from '../../../app/format'
import { offered } from '../../../app/locale'
import { useSettings } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'

/** Creates a tenant with its owner. */
export function NewTenant({ open, onClose }: { open: boolean; onClose: () => void }) {
  return <Dialog open={open} onClose={onClose} title={<Trans>New tenant</Trans>} wide><Body onClose={onClose} /></Dialog>
}

function Body({ onClose }: { onClose: () => void }) {
  const { t, i18n } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { locales, default_locale } = useSettings()
  const [email, setEmail] = useState('')
  const key = useMemo(() => `tenant-${crypto.randomUUID()}`, [])
  const places = useMemo(() => countries.map((code) => ({ code, name: format.country(code) })).sort((a, b) => a.name.localeCompare(b.name, i18n.locale)), [format, i18n.locale])

  async function create(values: Values) {
    const text = (name: string) => String(values[name] ?? '').trim()
    const owner = { email: text('owner.email'), ...(text('owner.name') ? { name: text('owner.name') } : {}), ...(text('owner.locale') ? { locale: text('owner.locale') as typeof default_locale } : {}) }
    try {
      const { data } = await api.POST('/api/v1/admin/tenants', {
        params: { header: { 'Idempotency-Key': key } }, body: { name: text('name'), owner, country: text('country') || null, external_id: text('external_id') || null },
      })
      await queries.invalidateQueries({ queryKey: ['tenants'] })
      onClose()
      const { id, name } = data!.data
      await navigate({ to: '/platform/tenants/$tenantId', params: { tenantId: id } })
      toast(<Trans>{name} was created.</Trans>)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'USER_BELONGS_TO_ANOTHER_TENANT') throw new ApiError(422, error.message, error.code, { 'owner.email': [t`This person already belongs to another tenant.`] })
      throw error
    }
  }
  return (
    <Form className="stack" onSubmit={create}>
      {({ busy }) => (
        <>
          <p className="flat"><Trans>The tenant starts without a subscription. You can add one afterwards.</Trans></p>
          <TextField name="name" label={t`Name`} maxLength={255} autoComplete="off" data-autofocus />
          <div className="two">
            <TextField name="owner.email" type="email" label={t`Owner’s email`} autoComplete="off" maxLength={255} value={email} onChange={(event) => setEmail(event.target.value)} />
            <TextField name="owner.name" label={t`Owner’s name`} hint={t`optional`} autoComplete="off" maxLength={255} />
            <SelectField name="owner.locale" label={t`Language`} defaultValue={default_locale}>
              {offered(locales).map(([code, name]) => <option key={code} value={code}>{name}</option>)}
            </SelectField>
            <SelectField name="country" label={t`Country`} hint={t`optional`} defaultValue="">
              <option value="">{t({ message: 'Not set', context: 'a country' })}</option>
              {places.map(({ code, name }) => <option key={code} value={code}>{name}</option>)}
            </SelectField>
          </div>
          <TextField name="external_id" label={t`External ID`} hint={t`optional`} className="mono" maxLength={255} autoComplete="off" spellCheck={false} help={t`Your own ID for this customer. Unique and case-sensitive.`} />
          {/.+@.+/.test(email) && <p className="outcome" role="status"><Trans>If this email does not have an account yet, <b>{email}</b> gets an email with a link to set a password.</Trans></p>}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Create tenant</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
