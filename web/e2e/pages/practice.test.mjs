// The notice of practice mode, in which a sandbox replaces the payment provider.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { check, hasBrowser, startBrowser, startService, visit } from '../world.mjs'

const skip = !hasBrowser()
let service, browser

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

for (const { width, theme, locale, name, text } of [
  { width: 1280, theme: 'light', locale: 'en-GB', name: 'Practice mode', text: 'Payments are simulated. No money moves.' },
  { width: 390, theme: 'dark', locale: 'fr-FR', name: 'Mode d’entraînement', text: 'Les paiements sont simulés. Aucune somme n’est débitée.' },
]) {
  test(`the console says that payments are simulated, at ${width} px, ${theme}`, { skip }, async (t) => {
    const page = await visit(t, browser, service.base, { width, theme, locale })
    // The service of the stories has the marker of its sandbox instead.
    await page.route('**/sign-in', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace('name="sandbox"', 'name="practice"') })
    })
    await page.goto('/sign-in')
    const notice = page.getByRole('complementary', { name })
    await notice.getByText(text).waitFor()
    const { y, height } = await notice.boundingBox()
    assert.ok(y >= 0 && y + height <= page.viewportSize().height, 'the notice is in view')
    await check(page, 'the notice of practice mode')
    assert.equal(await page.getByRole('complementary').count(), 1)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/practice-${width}-${theme}.png` })
  })
}
