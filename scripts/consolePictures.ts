/**
 * Draws the pictures of the web console anew: `npm run pictures`. It starts perpd on paper with the shipped strategies, waits until they
 * trade, and writes docs/pictures/console-*.jpg: desktop and phone, light and dark. Needs a Chromium on the machine.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { browserPath, loggedIn, servedIn } from '../test/world/consoleBrowser.ts'
import { killLeftOver, scratch } from '../test/world/processes.ts'

const root = resolve(import.meta.dirname, '..')
const out = join(root, 'docs', 'pictures')
/** How long it trades before it is drawn, ms. */
const tradingMs = 60_000
const sizes = {
  desktop: { width: 1_440, height: 1_000 },
  phone: { width: 390, height: 844 },
}

if (browserPath === undefined) throw new Error('The pictures need a Chromium on this machine.')
const folder = scratch()
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
try {
  const daemon = await servedIn(folder.path, [
    '--control.port=0',
    `--strategies.paths=${join(root, 'strategies')}`,
  ])
  const { page } = await loggedIn(browser, daemon, 'operate')
  await page.waitForSelector('#positions tbody tr')
  await page.selectOption('#prices select >> nth=1', '1m')
  await page.waitForTimeout(tradingMs)
  mkdirSync(out, { recursive: true })
  for (const [name, size] of Object.entries(sizes)) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForTimeout(1_000)
      const path = join(out, `console-${name}-${colorScheme}.jpg`)
      await page.screenshot({ path, type: 'jpeg', quality: 72 })
      process.stdout.write(`${path}\n`)
    }
  }
} finally {
  await browser.close()
  await killLeftOver()
  folder.remove()
}
