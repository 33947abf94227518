import { createTheme, MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'

/** Mantine's theme: Mantine defines the behavior, styles/tokens.css the sizes and colors. */
const theme = createTheme({
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  focusRing: 'auto',
})

/** The context of Mantine's components. Menus and dialogs load it with their own files. */
export function Floating({ children }: { children: ReactNode }) {
  return <MantineProvider theme={theme} withCssVariables={false} withGlobalClasses={false} deduplicateCssVariables>{children}</MantineProvider>
}
