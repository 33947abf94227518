import { Trans, useLingui } from '@lingui/react/macro'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { Status } from '../../../ui/Status'
import { useAsk } from './asked'
import { isCounted, limitWord, type Limited } from './limits'

function Row({ of }: { of: Limited }) {
  const { t } = useLingui()
  const format = useFormat()
  const ask = useAsk()
  const counted = isCounted(of)
  const { plan = null, override = null, effective = null } = of.limit ?? {}
  const word = (value: typeof effective) => limitWord(value, of.unit, false, format)
  const until = override?.expires_at && format.dayWithYear(override.expires_at)
  const off = effective === null || effective.type === 'none'
  return (
    <tr>
      <td className="k1"><b>{of.name}</b><small><code>{of.code}</code></small></td>
      <td className="k2 muted">{word(plan)}</td>
      <td className="k3">
        {override
          ? <>{word(override)} <span className="faint">{until && <Trans>until {until}</Trans>} “{override.reason}”</span></>
          : <span className="faint"><Trans>No override</Trans></span>}
      </td>
      <td className="k4"><Status tone={off ? 'off' : 'good'}>{counted ? limitWord(effective, null, false, format) : word(effective)}</Status></td>
      <td className="acts-cell k5"><Button size="s" look="quiet" aria-label={t`Change ${of.name}`} onClick={() => ask({ dialog: 'limit', feature: of.code })}><Trans>Change</Trans></Button></td>
    </tr>
  )
}

/** The features without a meter: the plan, the override, and the result. */
export function FeatureTable({ features }: { features: Limited[] }) {
  const { t } = useLingui()
  return (
    <Section title={<Trans>Features</Trans>}>
      <table className="table mid cards feats">
        <thead>
          <tr>
            <th scope="col"><Trans>Feature</Trans></th><th scope="col"><Trans>Plan</Trans></th><th scope="col"><Trans>Override</Trans></th><th scope="col"><Trans>In effect</Trans></th>
            <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
          </tr>
        </thead>
        <tbody>{features.map((one) => <Row key={one.code} of={one} />)}</tbody>
      </table>
    </Section>
  )
}
