import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Switch } from '../../../ui/Field'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { toast } from '../../../ui/Toast'
import { currenciesQuery } from '../catalog/reads'
import { AddCurrencies, EditCurrency } from './CurrencyForms'

function CurrencyRow({ of, mayEdit }: { of: Schema<'AdminCurrency'>; mayEdit: boolean }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'edit' | 'remove'>()
  const params = { path: { currency: of.code } }
  const reload = () => queries.invalidateQueries({ queryKey: ['currencies'] })
  const turn = useMutation({ mutationFn: (is_active: boolean) => api.PATCH('/api/v1/admin/currencies/{currency}', { params, body: { is_active } }), onSuccess: reload, onError: (error) => toast(error.message) })
  const name = format.currency(of.code) === of.code ? of.name : format.currency(of.code)
  return (
    <tr>
      <td className="k1"><b>{name}</b><small><code>{of.code}</code></small></td>
      <td className="k2" data-l={t`Format`}>{format.money(123456 * 10 ** (of.minor_units - 2), of.code)}</td>
      <td className="k3" data-l={t`Decimals`}>{of.minor_units}</td>
      <td className="k4">
        <Switch checked={turn.isPending ? turn.variables : of.is_active} disabled={!mayEdit || turn.isPending} aria-label={t`Sell in ${name}`} onChange={(event) => turn.mutate(event.target.checked)}>
          {of.is_active ? <Trans>On sale</Trans> : <Trans>No new sales</Trans>}
        </Switch>
      </td>
      <td className="acts-cell">
        {mayEdit && (
          <More small>
            <MenuEntry icon="pencil" onClick={() => setAsked('edit')}><Trans>Edit</Trans></MenuEntry>
            <MenuLine />
            <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans>Delete</Trans></MenuEntry>
          </More>
        )}
        <EditCurrency of={of} open={asked === 'edit'} onClose={() => setAsked(undefined)} />
        <Confirm
          open={asked === 'remove'} onClose={() => setAsked(undefined)} title={<Trans>Delete {name}?</Trans>} action={<Trans>Delete currency</Trans>}
          onConfirm={async () => { await api.DELETE('/api/v1/admin/currencies/{currency}', { params }); await reload(); toast(<Trans>{name} was deleted.</Trans>) }}
        >
          <p><Trans>A currency with a price, a subscription or an invoice cannot be deleted. Stop selling in it instead.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}

/** The currencies in which plans can be sold. */
export function Currencies({ mayEdit }: { mayEdit: boolean }) {
  const { t } = useLingui()
  const currencies = useQuery(currenciesQuery)
  const [asked, setAsked] = useState<'add' | 'own'>()
  const acts = mayEdit && (
    <span className="acts">
      <Button size="s" icon="plus" onClick={() => setAsked('add')}><Trans>Add</Trans></Button>
      <More small><MenuEntry icon="plus" onClick={() => setAsked('own')}><Trans>Add custom currency</Trans></MenuEntry></More>
    </span>
  )
  return (
    <Section className="part" title={<Trans>Currencies</Trans>} end={acts} lead={<Trans>A plan can have a price in each currency. If you stop selling in a currency, existing subscriptions continue.</Trans>}>
      <Read query={currencies} lines={4}>
        {(found) => (
          <table className="table mid cards rows">
            <thead>
              <tr>
                <th scope="col"><Trans>Currency</Trans></th><th scope="col"><Trans>Format</Trans></th><th scope="col"><Trans>Decimals</Trans></th><th scope="col"><Trans>Status</Trans></th>
                <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
              </tr>
            </thead>
            <tbody>{found.map((one) => <CurrencyRow key={one.code} of={one} mayEdit={mayEdit} />)}</tbody>
          </table>
        )}
      </Read>
      <AddCurrencies open={asked === 'add'} onClose={() => setAsked(undefined)} />
      <EditCurrency open={asked === 'own'} onClose={() => setAsked(undefined)} />
    </Section>
  )
}
