/**
 * Draws the pictures of the web console anew: `npm run pictures`. It starts perpd on paper with the shipped strategies, waits until they
 * trade, and writes docs/pictures/console-*.jpg: desktop and phone, light and dark, then the ticket and the dialog that protects. Needs a Chromium on
 * the machine.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Decimal } from 'decimal.js'
import type { Locator, Page } from 'playwright-core'
import { ask, type ConsolePlace, launchBrowser, loggedIn, servedIn } from '../test/world/consoleBrowser.ts'
import { killLeftOver, scratch } from '../test/world/processes.ts'

const root = resolve(import.meta.dirname, '..')
const out = join(root, 'docs', 'pictures')
/** How long it trades before it is drawn, ms. */
const tradingMs = 60_000
const sizes = {
  desktop: { width: 1_440, height: 1_000 },
  phone: { width: 390, height: 844 },
}

const symbol = 'BTC/USD [BTC-USDC]'

/** Opens a position by hand with a stop and a target near the price, so that the chart shows them. */
async function openWithExits(place: ConsolePlace): Promise<void> {
  const listed = await ask(place, '/api/markets')
  const markets = (await listed.json()) as readonly { readonly symbol: string; readonly markPrice: string }[]
  const price = new Decimal(markets.find((each) => each.symbol === symbol)?.markPrice ?? 0).div('1e30')
  const answer = await ask(place, '/api/orders', {
    id: 'picture',
    market: symbol,
    direction: 'long',
    size: '800',
    leverage: '4',
    takeProfit: price.mul('1.004').toFixed(2),
    stopLoss: price.mul('0.995').toFixed(2),
    by: 'ann',
  })
  if (!answer.ok) throw new Error(await answer.text())
}

/** Writes what a page or a part of it shows. */
async function draw(shown: Page | Locator, name: string): Promise<void> {
  const path = join(out, `console-${name}.jpg`)
  await shown.screenshot({ path, type: 'jpeg', quality: 72 })
  process.stdout.write(`${path}\n`)
}

/** The ticket of an order with its preview, on a desktop and on a phone, and the dialog that protects a position. */
async function drawDialogs(page: Page): Promise<void> {
  await page.setViewportSize(sizes.desktop)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.click('#positions button[aria-label^="Protect long BTC"]')
  await draw(page.locator('dialog[open]'), 'protect')
  await page.keyboard.press('Escape')
  await page.check('#ticket input[name=direction][value=long]')
  await page.fill('#ticket input[name=stopLoss]', '3%')
  await page.fill('#ticket input[name=takeProfit]', '6%')
  await page.check('#ticket input[name=unit][value=risk]')
  await page.fill('#ticket input[name=amount]', '20')
  await page.fill('#ticket input[name=by]', 'ann')
  await page.press('#ticket input[name=amount]', 'Enter')
  await page.waitForSelector('#ticket .quote')
  // Nothing of it lies below the head, which stays.
  await page.setViewportSize({ ...sizes.desktop, height: 1_800 })
  await draw(page.locator('#ticket'), 'ticket')
  await page.setViewportSize(sizes.phone)
  await page.click('.pages .plus')
  await page.waitForSelector('dialog.sheet[open] .ticket')
  await draw(page, 'phone-ticket')
}

const folder = scratch()
const browser = await launchBrowser()
try {
  const daemon = await servedIn(folder.path, [`--strategies.paths=${join(root, 'strategies')}`])
  const { page } = await loggedIn(browser, daemon, 'operate')
  await page.waitForSelector('#positions tbody tr')
  await openWithExits(daemon)
  await page.selectOption('#prices select >> nth=0', symbol)
  await page.click('#prices .intervals >> text="1m"')
  await page.waitForTimeout(tradingMs)
  mkdirSync(out, { recursive: true })
  for (const [name, size] of Object.entries(sizes)) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForTimeout(1_000)
      await draw(page, `${name}-${colorScheme}`)
    }
  }
  await drawDialogs(page)
} finally {
  await browser.close()
  await killLeftOver()
  folder.remove()
}
