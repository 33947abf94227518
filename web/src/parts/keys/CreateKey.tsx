import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Button } from '../../ui/Button'
import { Choices } from '../../ui/Choices'
import { Dialog } from '../../ui/Dialog'
import { SelectField, TextField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import type { Scope } from '../scope'
import { keysKey, keysOf } from './api'
import { lifetimes, scopesOf, scopeWords, useHindrance } from './scopes'

/** Creates an API key: its name, scopes and lifetime. */
export function CreateKey({ open, scope, onClose, onMade }: {
  open: boolean; scope: Scope; onClose: () => void; onMade: (key: Schema<'NewAPIKey'>) => void
}) {
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>New key</Trans>} wide>
      <Body scope={scope} onClose={onClose} onMade={onMade} />
    </Dialog>
  )
}

function Body({ scope, onClose, onMade }: { scope: Scope; onClose: () => void; onMade: (key: Schema<'NewAPIKey'>) => void }) {
  const { t, i18n } = useLingui()
  const queries = useQueryClient()
  const hindrance = useHindrance(scope)
  const [scopes, setScopes] = useState<Schema<'APIKeyScope'>[]>(hindrance('usage.write') ? [] : ['usage.write'])

  async function create(values: Values) {
    const days = String(values.expires_in_days)
    const made = await keysOf(scope).create({ name: String(values.name).trim(), scopes, expires_in_days: days ? Number(days) : null })
    await queries.invalidateQueries({ queryKey: keysKey(scope) })
    onClose()
    onMade(made)
  }
  return (
    <Form className="stack" onSubmit={create}>
      {({ busy }) => (
        <>
          <TextField name="name" label={t`Name`} help={t`The application that uses it, such as “metering”.`} autoComplete="off" required autoFocus data-autofocus />
          <Choices
            name="scopes" label={t`Permissions`} columns value={scopes} onChange={setScopes}
            options={scopesOf(scope === 'platform').map((one) => {
              const why = hindrance(one)
              return { value: one, label: i18n._(scopeWords[one]), small: why ? i18n._(why) : <code>{one}</code>, disabled: why !== undefined }
            })}
          />
          <SelectField name="expires_in_days" label={t`Valid`} defaultValue="365">
            {lifetimes.map((days) => <option key={days} value={days ?? ''}>{days === null ? t`until revoked` : days === 365 ? t`for a year` : t`for ${days} days`}</option>)}
          </SelectField>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Create key</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
