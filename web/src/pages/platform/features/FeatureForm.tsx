import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Check, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { allFeaturesQuery, catalogKey } from '../catalog/reads'
import { TextFields } from '../catalog/TextFields'
import { sent, slugOf, textsOf } from '../catalog/texts'

interface Props {
  /** The feature to change; undefined creates one. */
  of?: Schema<'AdminFeature'>
  open: boolean
  onClose: () => void
}

/** Creates a feature or changes its texts. */
export function FeatureForm(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.of ? <Trans>Edit feature</Trans> : <Trans>New feature</Trans>} wide>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ of, onClose }: Props) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const [texts, setTexts] = useState(textsOf(of?.translations))
  const [code, setCode] = useState(of?.code)
  const shown = code ?? slugOf(texts.en.name)
  const others = useQuery(allFeaturesQuery).data ?? []
  const [place, setPlace] = useState(of && String(of.sort_order))
  const order = place ?? String(Math.max(0, ...others.map((one) => one.sort_order)) + 10)

  async function save(values: Values) {
    if (!/^\d+$/.test(order.trim())) {
      const message = t`Enter a whole number.`
      throw new ApiError(422, message, undefined, { sort_order: [message] })
    }
    const body = { ...sent(texts), sort_order: Number(order), is_active: values.is_active === true }
    if (of) await api.PATCH('/api/v1/admin/features/{feature}', { params: { path: { feature: of.id } }, body: of.is_system ? body : { ...body, code: shown } })
    else await api.POST('/api/v1/admin/features', { body: { ...body, code: shown } })
    await queries.invalidateQueries({ queryKey: catalogKey })
    onClose()
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          <TextFields texts={texts} onChange={setTexts} />
          <TextField
            name="code" label={t`Code`} hint={of?.is_system ? t`fixed` : undefined} disabled={of?.is_system} value={shown} onChange={(event) => setCode(event.target.value)} autoComplete="off"
            help={t`Your application uses this code to check a customer’s access.`}
          />
          <TextField
            name="sort_order" label={t`Position in lists`} inputMode="numeric" value={order} onChange={(event) => setPlace(event.target.value)} autoComplete="off"
            help={t`Lower numbers come first in every plan. Features with the same number are sorted by code.`}
          />
          <Check name="is_active" defaultChecked={of?.is_active ?? true} small={<Trans>If this is off, price lists omit the feature. Its limits still apply to existing customers.</Trans>}><Trans>Shown to customers</Trans></Check>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{of ? <Trans>Save</Trans> : <Trans>Create feature</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
