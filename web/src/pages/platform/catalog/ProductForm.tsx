import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Check, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { catalogKey } from './reads'
import { TextFields } from './TextFields'
import { sent, slugOf, textsOf } from './texts'

interface Props {
  /** The product to change; undefined creates one. */
  of?: Schema<'AdminProduct'>
  open: boolean
  onClose: () => void
}

/** Creates a product or changes its texts. */
export function ProductForm(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.of ? <Trans>Edit product</Trans> : <Trans>New product</Trans>} wide>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ of, onClose }: Props) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const [texts, setTexts] = useState(textsOf(of?.translations))
  const [slug, setSlug] = useState(of?.slug)
  const shown = slug ?? slugOf(texts.en.name)

  async function save(values: Record<string, string | boolean>) {
    const body = { ...sent(texts), slug: shown, is_active: values.is_active === true }
    if (of) await api.PATCH('/api/v1/admin/products/{product}', { params: { path: { product: of.id } }, body })
    else await api.POST('/api/v1/admin/products', { body })
    await queries.invalidateQueries({ queryKey: catalogKey })
    onClose()
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          <TextFields texts={texts} onChange={setTexts} />
          <TextField name="slug" label={t`Short name`} help={t`Identifies it in the API and the catalog file. Letters, digits and hyphens.`} value={shown} onChange={(event) => setSlug(event.target.value)} autoComplete="off" />
          <Check name="is_active" defaultChecked={of?.is_active ?? true} small={<Trans>If this is off, its plans cannot be bought. Subscriptions continue.</Trans>}><Trans>On sale</Trans></Check>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{of ? <Trans>Save</Trans> : <Trans>Create product</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
