// Sets the theme and the operator's accent before anything is drawn. Without a choice the system's
// theme holds.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the system's theme holds.
}
const accent = document.querySelector('meta[name=accent]')?.content
if (accent) document.documentElement.style.setProperty('--accent', accent)
