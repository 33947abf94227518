// Parts that the first view of a page does not need.
export const loadMenu = () => import('./FloatingMenu')
export const loadDialog = () => import('./FloatingDialog')

/** Loads the font, and notes that the next visit can show it immediately (start.js). */
async function loadFont(): Promise<void> {
  await import('../styles/fonts.css')
  await document.fonts.load('14px "Inter Variable"')
  try {
    localStorage.setItem('font', 'loaded')
  } catch {
    // Without storage the font is loaded late on each visit.
  }
}

/** The pause without reads, in milliseconds, after which the first view is complete. */
const pause = 500

/**
 * Loads the font once the first view is complete, and then menus and dialogs, so that they open
 * immediately and also without a connection. isReading reports whether data is being read.
 */
export function loadLater(isReading: () => boolean): void {
  let calm = 0
  const timer = setInterval(() => {
    calm = isReading() ? 0 : calm + 1
    if (calm < 2) return
    clearInterval(timer)
    // Menus and dialogs are tried again at their first use.
    void loadFont().then(() => Promise.all([loadMenu(), loadDialog()])).catch(() => {})
  }, pause)
}
