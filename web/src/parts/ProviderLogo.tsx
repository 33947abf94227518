import { Icon } from '../ui/Icon'

const logos: Record<string, [string, string][]> = {
  google: [
    ['#4285F4', 'M17.64 9.2c0-.64-.06-1.25-.16-1.84H9v3.48h4.84a4.14 4.14 0 0 1-1.8 2.72v2.26h2.92c1.7-1.57 2.68-3.88 2.68-6.62z'],
    ['#34A853', 'M9 18c2.43 0 4.47-.8 5.96-2.18l-2.91-2.26c-.81.54-1.84.86-3.05.86-2.34 0-4.33-1.58-5.04-3.71H.96v2.33A9 9 0 0 0 9 18z'],
    ['#FBBC05', 'M3.96 10.71a5.41 5.41 0 0 1 0-3.42V4.96H.96a9 9 0 0 0 0 8.08z'],
    ['#EA4335', 'M9 3.58c1.32 0 2.51.45 3.44 1.35l2.58-2.58A9 9 0 0 0 .96 4.96l3 2.33C4.67 5.16 6.66 3.58 9 3.58z'],
  ],
  microsoft: [['#F25022', 'M1 1h7.6v7.6H1z'], ['#7FBA00', 'M9.4 1H17v7.6H9.4z'], ['#00A4EF', 'M1 9.4h7.6V17H1z'], ['#FFB900', 'M9.4 9.4H17V17H9.4z']],
}

/** The logo of an identity provider, or a key. */
export function ProviderLogo({ code }: { code: string }) {
  const logo = logos[code]
  if (!logo) return <Icon name="key" />
  return <svg className="logo-i" viewBox="0 0 18 18" aria-hidden="true">{logo.map(([fill, d]) => <path key={fill} fill={fill} d={d} />)}</svg>
}
