import { useLingui } from '@lingui/react/macro'
import { Page } from '../../ui/Page'
import { Currencies } from './settings/Currencies'
import { usePlatformMay } from './may'
import { Service } from './settings/Service'
import { SettingsTabs } from './settings/SettingsTabs'

/** Currencies and the settings of the service. */
export default function Settings() {
  const { t } = useLingui()
  const may = usePlatformMay()
  return (
    <Page title={t`Settings`}>
      <SettingsTabs />
      {may('currencies.manage') && <Currencies mayEdit />}
      <Service />
    </Page>
  )
}
