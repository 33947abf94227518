import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { address, api } from '../../../api/client'
import { useSettings } from '../../../app/session'
import { Mark } from '../../../shell/Mark'
import { ButtonAnchor } from '../../../ui/Button'
import { Read } from '../../../ui/Read'

/** Returns the file at a URL as a data URL; the URL itself if the console may not read it. */
async function inline(url: string): Promise<string> {
  try {
    const file = await (await fetch(url)).blob()
    return await new Promise((done, failed) => {
      const reader = new FileReader()
      reader.onload = () => done(String(reader.result))
      reader.onerror = failed
      reader.readAsDataURL(file)
    })
  } catch {
    return url
  }
}

/**
 * Returns a mail as a picture. The content security policy of the console allows no frames, and a
 * picture loads nothing and runs no scripts.
 */
function pictureOf(html: string): string {
  const page = html.replace(/<!doctype[^>]*>/i, '').replace('<html', '<html xmlns="http://www.w3.org/1999/xhtml"')
    .replace(/<(meta|img|br|hr|link)\b([^>]*?)\/?>/gi, '<$1$2/>').replaceAll('&nbsp;', '\u00a0')
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="640"><foreignObject width="600" height="640">${page}</foreignObject></svg>`
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`
}

/** The name, the logo and the accent as customers see them: in the console, a mail and an invoice. */
export function BrandPreview() {
  const { t, i18n } = useLingui()
  const { app_name, logo_url, invoice_mode } = useSettings()
  const mail = useQuery({
    queryKey: ['brand-mail', i18n.locale],
    queryFn: async () => {
      const { subject, html } = (await api.GET('/api/v1/admin/brand/mail')).data!.data
      return { subject, picture: pictureOf(logo_url ? html.replaceAll(logo_url, await inline(logo_url)) : html) }
    },
  })
  return (
    <div className="brand-preview">
      <figure>
        <figcaption><Trans>Console</Trans></figcaption>
        <div className="brand-frame brand-console" aria-hidden="true">
          <span className="row"><Mark /><b>{app_name}</b></span>
          <span className="btn primary s"><Trans>Save</Trans></span>
        </div>
      </figure>
      <figure>
        <figcaption><Trans>Email</Trans></figcaption>
        <Read query={mail} lines={5}>{({ subject, picture }) => <img className="brand-frame" src={picture} alt={t`Sample email: ${subject}`} width="600" height="640" />}</Read>
      </figure>
      <figure>
        <figcaption><Trans>Invoice</Trans></figcaption>
        {invoice_mode === 'platform_managed'
          ? <ButtonAnchor size="s" icon="download" href={address('/api/v1/admin/brand/invoice')} download><Trans>Download sample invoice</Trans></ButtonAnchor>
          : <p className="t13 muted"><Trans>The payment provider issues your invoices. Set their logo and color in its dashboard.</Trans></p>}
      </figure>
    </div>
  )
}
