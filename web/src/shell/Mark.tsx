import { lettersOf } from '../app/letters'
import { useSettings } from '../app/session'

/** The operator's logo, or the first letter of the name on the accent color. */
export function Mark() {
  const { app_name, logo_url } = useSettings()
  if (logo_url) return <img className="av sq" src={logo_url} alt="" />
  return <span className="av sq logo" aria-hidden="true">{lettersOf(app_name)[0]}</span>
}
