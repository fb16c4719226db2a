/** The console's page on a phone and a tablet, with a strategy of a long name; and an order's story as `perpd explain` tells it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { pageIds } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { loggedIn, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { perpd } from './processes.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const name = `${'eth-trend-of-a-long-name-'.repeat(3).slice(0, 68)}1`

const here = pageTests()

/** By how much something is wider than its place, px. */
const overhang = (page: Page, selector: string): Promise<number> =>
  page
    .locator(selector)
    .evaluate((node: { scrollWidth: number; clientWidth: number }) => node.scrollWidth - node.clientWidth)

/** Opens a dialog, sees that it lies within the screen, and closes it. */
async function liesWithin(page: Page, button: string): Promise<void> {
  await page.click(button)
  const box = await page.locator('dialog[open]').boundingBox()
  const width = page.viewportSize()?.width ?? 0
  expect([button, box !== null && box.x >= 0 && box.x + box.width <= width]).toEqual([button, true])
  expect([button, await overhang(page, 'dialog[open]')]).toEqual([button, 0])
  await page.keyboard.press('Escape')
}

pageTest(
  'a name of 69 letters makes no page wider than its screen, and the story is what explain tells',
  { timeout: 240_000 },
  async () => {
    const own = join(here.folder, 'own')
    mkdirSync(own)
    writeFileSync(join(own, `${name}.yaml`), readFileSync(join(strategies, 'eth-trend.yaml'), 'utf8'))
    const daemon = await servedIn(here.folder, [`--strategies.paths=${own}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#positions .stop >> text=$')
    for (const width of [390, 768]) {
      await page.setViewportSize({ width, height: 900 })
      for (const id of pageIds) {
        await toPage(page, id)
        expect([width, id, await overhang(page, ':root')]).toEqual([width, id, 0])
      }
      await toPage(page, 'trade')
      await page.waitForSelector('#positions .scroll')
      expect([width, await overhang(page, '#positions .scroll')]).toEqual([width, 0])
    }
    // What the head cuts stands whole in the section of the account, and a limit's name is not broken between its letters.
    for (const width of [390, 1_280]) {
      await page.setViewportSize({ width, height: 900 })
      await toPage(page, 'risk')
      await page.waitForSelector('#limits .limit >> nth=5')
      for (const hint of await page.locator('#account dt').all())
        expect([width, await hint.evaluate((node) => node.scrollWidth > node.clientWidth)]).toEqual([
          width,
          false,
        ])
      for (const limit of await page.locator('#limits .limit > :first-child').all())
        expect([width, (await limit.evaluate((node) => node.clientWidth)) > 200]).toEqual([width, true])
    }
    await page.setViewportSize({ width: 390, height: 844 })
    await page.click('button[popovertarget=stop-menu]')
    await liesWithin(page, '#stop-menu >> text=Halt…')
    await toPage(page, 'strategies')
    await liesWithin(page, '#strategies button[aria-label^="Show the file"]')
    await toPage(page, 'orders')
    await page.click('#orders .card .face')
    await liesWithin(page, '#orders .card .tools button')
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.click('#orders tbody tr.open th button')
    await page.waitForSelector('dialog[open] .timeline >> text=fields compared, none differs')
    await page.waitForSelector('dialog[open] >> text=the position is open: its entry is filled')
    const text = (await page.locator('dialog[open]').innerText()).replaceAll(/\s+/g, ' ')
    expect(text).not.toContain(texts.labels.resting)
    const id = /^Order (\w+)/.exec(text)?.[1] ?? ''
    const explain = perpd(['explain', id, '--log.format=pretty'], { cwd: here.folder })
    await explain.ended
    const said = explain.said().replaceAll(/\s+/g, ' ')
    for (const words of ['capacity $', 'reserved $', 'cannot land after', 'digest 0x', 'fields compared'])
      expect([words, said.includes(words), text.includes(words)]).toEqual([words, true, true])
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.waitForSelector(`dialog[open] >> text=${texts.labels.open}`)
    expect(complaints).toEqual([])
  },
)
