/** A walk over the console on a phone of 390 px: every control of every page, menu and dialog is pressed, is large enough for a finger, and has nothing that axe finds. */
import { resolve } from 'node:path'
import axe from 'axe-core'
import type { ElementHandle, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import type { PageId } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { ticketTexts } from '../../src/control/console/page/ticket/ticketTexts.ts'
import { ask, loggedIn, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { until } from './processes.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const width = 390

/** Whatever lies on top of a page: a dialog, a menu, or the page itself. */
const layers = ['dialog[open]', '.menu:popover-open', ':is(header.top, main)']
/** Whatever is pressed and stays within the console. */
const controls = 'button, summary, select, input, textarea, a[href^="#"]'

/** The layer on top. */
const topOf = (page: Page): Promise<string> =>
  page.evaluate((all) => all.find((each) => document.querySelector(each) !== null) ?? '', layers)

interface Control {
  readonly node: ElementHandle<HTMLElement>
  /** Its place, its kind and its words, without figures: rows that are alike have one name. */
  readonly name: string
  /** Entries of a list; 0 for all else. */
  readonly entries: number
}

/** The first control on top with this name, or without `name` the first that has none of those in `past`. */
async function controlOf(
  page: Page,
  { name, past = [] }: { readonly name?: string; readonly past?: readonly string[] },
): Promise<Control | undefined> {
  const found = await page.evaluateHandle(
    (wanted) => {
      const plain = (text: string) => text.replaceAll(/[\d.,]+|\b[0-9a-f]{6,}\b/g, '#')
      const top = wanted.layers.find((each) => document.querySelector(each) !== null) ?? ''
      for (const node of document.querySelectorAll<HTMLElement>(`${top} :is(${wanted.controls})`)) {
        const isSeen = node.checkVisibility({ visibilityProperty: true }) && node.offsetWidth > 1
        if (node.matches(':disabled') || !isSeen) continue
        const place = node.closest('dialog, .menu, section, header, main')
        const where = place?.querySelector('h2')?.textContent ?? place?.id ?? ''
        const said = node.getAttribute('aria-label') ?? node.getAttribute('name') ?? node.textContent ?? ''
        const value = node.matches('input') ? (node.getAttribute('value') ?? '') : ''
        const own = plain([where, node.localName, node.className, said.trim(), value].join(' ').trim())
        if (wanted.name === undefined ? !wanted.past.includes(own) : own === wanted.name)
          return { node, name: own, entries: node instanceof HTMLSelectElement ? node.options.length : 0 }
      }
      return undefined
    },
    { layers, controls, name, past },
  )
  const facts = await found.evaluate((each) => each && { name: each.name, entries: each.entries })
  if (facts === undefined) return undefined
  return { ...facts, node: (await found.getProperty('node')).asElement() as ElementHandle<HTMLElement> }
}

/** Presses it, or chooses the second entry of a list; false: it was gone or disabled before. */
async function press({ node, name, entries }: Control): Promise<boolean> {
  try {
    if (entries > 1) await node.selectOption({ index: 1 }, { timeout: 10_000 })
    else await node.click({ timeout: 10_000 })
    return true
  } catch (error) {
    // One that the browser's answer takes away meanwhile, as notifications that it denies, is no fault.
    const isThere = (await node.isVisible().catch(() => false)) && (await node.isEnabled().catch(() => false))
    if (!isThere) return false
    throw new Error(`"${name}" cannot be pressed`, { cause: error })
  }
}

/** Waits until all that a press asks for has come and is drawn: what it opens may open only then. */
async function settled(page: Page, reading: ReadonlySet<Request>): Promise<void> {
  const drawn = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  await drawn()
  for (let frames = 0; frames < 200 && reading.size > 0; frames += 1) await drawn()
  await drawn()
}

/** Presses each control of a page, of its menus and of its dialogs once, but for the one that ends the session. `opened`: looks at each layer before. */
async function walkPage(page: Page, id: PageId, opened: (way: string) => Promise<void>): Promise<number> {
  const pressed = new Set<string>()
  const walked = new Set<string>()
  const reading = new Set<Request>()
  const isHere = () => page.locator(`.pages a[aria-current][href^="#/${id}"]`).count()

  /** Closes all that is open, and presses its way to a layer again. */
  async function reach(way: readonly string[]): Promise<void> {
    for (let tries = 0; tries < 4 && (await topOf(page)) !== layers.at(-1); tries += 1)
      await page.keyboard.press('Escape')
    await toPage(page, id)
    for (const name of way) {
      const next = await controlOf(page, { name })
      if (next === undefined) return
      await press(next)
      await settled(page, reading)
    }
  }

  async function walk(way: readonly string[], layer: string): Promise<void> {
    for (;;) {
      if ((await topOf(page)) !== layer || (await isHere()) === 0) await reach(way)
      if ((await topOf(page)) !== layer) return
      const next = await controlOf(page, { past: [...pressed] })
      if (next === undefined) return
      pressed.add(next.name)
      if (next.name.endsWith(texts.logOut)) continue
      if (!(await press(next))) {
        pressed.delete(next.name)
        continue
      }
      await settled(page, reading)
      const top = await topOf(page)
      if (top === layers.at(-1) || (await isHere()) === 0) continue
      const heading = await page
        .locator(top)
        .last()
        .evaluate((node) => `${node.id} ${node.querySelector('h2')?.textContent ?? ''}`)
      const known = heading.replaceAll(/\d+|\b[0-9a-f]{6,}\b/g, '#')
      if (walked.has(known)) continue
      walked.add(known)
      await opened([...way, next.name].join(' > '))
      await walk([...way, next.name], top)
    }
  }

  // The stream never ends.
  const begun = (request: Request) => void (request.url().endsWith('/api/stream') || reading.add(request))
  const over = (request: Request) => void reading.delete(request)
  page.on('request', begun).on('requestfinished', over).on('requestfailed', over)
  await reach([])
  await walk([], layers.at(-1) ?? '')
  await reach([])
  page.off('request', begun).off('requestfinished', over).off('requestfailed', over)
  return pressed.size
}

/** Targets on top that are smaller than a finger, with their sizes. A link within a sentence is none. */
async function smallOf(page: Page): Promise<readonly string[]> {
  const targets =
    'button, summary, select, a[href], input:not([type=checkbox], [type=radio]), label:has(input:is([type=checkbox], [type=radio]))'
  return await page.evaluate(
    ({ top, targets: all }) =>
      [...document.querySelectorAll<HTMLElement>(`${top} :is(${all})`)].flatMap((node) => {
        const { width: wide, height: high } = node.getBoundingClientRect()
        const isSeen = node.checkVisibility({ visibilityProperty: true }) && wide > 0
        if (!isSeen || node.closest('p, .skip') !== null) return []
        const isLarge = Math.round(high) >= 44 && Math.round(wide) >= 44
        return isLarge ? [] : [`${Math.round(wide)}x${Math.round(high)} ${node.outerHTML.slice(0, 160)}`]
      }),
    { top: await topOf(page), targets },
  )
}

/** Everything that axe finds on top, of all grades, a text each. `rules`: of its colours alone, since nothing else differs between two themes. */
async function foundOf(page: Page, rules: 'all' | 'colours'): Promise<readonly string[]> {
  const top = await topOf(page)
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const place = top === layers.at(-1) ? 'document' : JSON.stringify(top)
  const options = rules === 'all' ? '{}' : "{ runOnly: ['color-contrast'] }"
  const found = await page.evaluate<
    readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
  >(`axe.run(${place}, ${options}).then(({ violations }) => violations)`)
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/** Defines the test of these pages, in a file of its own: each has a daemon, and walks for minutes. */
export function phoneTest(ids: readonly PageId[]): void {
  const here = pageTests()
  pageTest(
    `every control of ${ids.join(', ')}, its menus and dialogs is pressed at 390 px, each target is at least 44 px there, and axe finds nothing in light and dark`,
    { timeout: 360_000 },
    async () => {
      const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
      const hand = { id: 'hand', by: 'ann', market: 'ETH/USD [WETH-USDC]', direction: 'short' }
      const order = { ...hand, size: '400', leverage: '3', stopLoss: '3%', takeProfit: '4%' }
      expect((await ask(daemon, '/api/orders', order)).status).toBe(200)
      const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
      page.setDefaultTimeout(15_000)
      await page.setViewportSize({ width, height: 844 })
      await page.waitForSelector('#positions .card >> nth=1')
      await until('all that is held by hand has its exits', async () =>
        (await page.locator('#resting .card').count()) > 2 ? true : undefined,
      )
      const wrong = new Set<string>()
      const look = async (where: string) => {
        for (const each of await smallOf(page)) wrong.add(`${where}: ${each}`)
        for (const colorScheme of ['dark', 'light'] as const) {
          await page.emulateMedia({ colorScheme })
          const found = await foundOf(page, colorScheme === 'light' ? 'all' : 'colours')
          for (const each of found) wrong.add(`${colorScheme}, ${where}: ${each}`)
        }
        const scrolled = await page.evaluate(() => document.documentElement.scrollWidth)
        expect([where, scrolled]).toEqual([where, width])
      }
      for (const id of ids) {
        await toPage(page, id)
        await look(id)
        expect(await walkPage(page, id, (way) => look(`${id}, ${way}`))).toBeGreaterThan(15)
        // The round button of the bar opens the ticket as a sheet, from every page.
        await page.click(`.pages button[aria-label="${ticketTexts.open}"]`)
        await page.waitForSelector('dialog.sheet[open] .ticket')
        await page.keyboard.press('Escape')
        await page.waitForSelector('dialog.sheet[open]', { state: 'detached' })
      }
      expect([...wrong]).toEqual([])
      expect(complaints).toEqual([])
    },
  )
}
