// Sets the theme before the page is drawn: the theme chosen in the console or here, or else the
// system's.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage, the system's theme applies.
}
