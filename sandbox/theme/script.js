// Buttons that copy appear where a page may write to the clipboard.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('button[data-copy]')) {
    const word = button.querySelector('span')
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy)
      word.textContent = 'Copied'
      setTimeout(() => { word.textContent = 'Copy' }, 1500)
    })
  }
}
