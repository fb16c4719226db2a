/** Presses everything on a page of the console that can be pressed, and everything in what opens by that: found on the page itself, named nowhere. */
import type { ElementHandle, Page, Request } from 'playwright-core'
import type { PageId } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { toPage } from './consoleBrowser.ts'

/** Whatever can be pressed and stays within the page. */
const pressable = ':is(button, summary):not([disabled]):visible'
const dialog = 'dialog[open]'
const menu = '.menu:popover-open'
const wholePage = ':is(header.top, main)'

/** Text without figures and ids: one name for rows that are alike. */
const plain = (text: string): string => text.replaceAll(/[\d.,]+|\b[0-9a-f]{6,}\b/g, '#')

type Button = ElementHandle<Node>

/** Its name: what it says, and what it is in. */
async function nameOf(button: Button): Promise<string> {
  const said = await button.evaluate((pressed) => {
    const node = pressed as HTMLElement
    const place = node.closest('dialog, .menu, section, header, main')
    const own = (node.getAttribute('aria-label') ?? node.textContent ?? '').trim()
    return `${place?.querySelector('h2')?.textContent ?? place?.id ?? ''} ${node.className} ${own}`
  })
  return plain(said)
}

/** What lies on top: a dialog, a menu, or the page. */
async function topOf(page: Page): Promise<string> {
  for (const place of [dialog, menu]) if ((await page.locator(place).count()) > 0) return place
  return wholePage
}

/** The first button on top that this is true of. */
async function buttonOf(page: Page, isWanted: (name: string) => boolean) {
  for (const button of await page.locator(`${await topOf(page)} ${pressable}`).elementHandles()) {
    const name = await nameOf(button).catch(() => undefined)
    if (name !== undefined && isWanted(name)) return { button, name }
  }
  return undefined
}

/** Presses it; false: it was gone before. */
async function press(button: Button, name: string): Promise<boolean> {
  try {
    await button.click({ timeout: 10_000 })
    return true
  } catch (error) {
    if (!(await button.isVisible().catch(() => false))) return false
    throw new Error(`"${name}" cannot be pressed`, { cause: error })
  }
}

/** Everything but the stream, which never ends. */
const isRead = (request: Request): boolean => !request.url().endsWith('/api/stream')

/** Waits until what a press asks for has come and is drawn: what it opens may open only then. */
async function settled(page: Page, reading: ReadonlySet<Request>): Promise<void> {
  const drawn = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  await drawn()
  for (let frames = 0; frames < 200 && reading.size > 0; frames += 1) await drawn()
  await drawn()
}

/**
 * Presses each button of a page, of its menus and of its dialogs once, but for the one that ends the session; gives their names. `opened`: looks at each
 * dialog and menu before anything in it is pressed, with what led there.
 */
export async function walkPage(
  page: Page,
  id: PageId,
  opened: (way: string) => Promise<void> = async () => undefined,
): Promise<readonly string[]> {
  const pressed = new Set<string>()
  const walked = new Set<string>()
  const reading = new Set<Request>()

  /** Closes what is open, and presses its way to a place again. */
  async function reach(way: readonly string[]): Promise<void> {
    for (let tries = 0; tries < 4 && (await topOf(page)) !== wholePage; tries += 1)
      await page.keyboard.press('Escape')
    await toPage(page, id)
    for (const step of way) {
      const next = await buttonOf(page, (name) => name === step)
      if (next === undefined) return
      await press(next.button, next.name)
      await settled(page, reading)
    }
  }

  async function walk(way: readonly string[], place: string): Promise<void> {
    for (;;) {
      if ((await topOf(page)) !== place) await reach(way)
      if ((await topOf(page)) !== place) return
      const next = await buttonOf(page, (name) => !pressed.has(name) && !name.endsWith(texts.logOut))
      if (next === undefined) return
      pressed.add(next.name)
      if (!(await press(next.button, next.name))) {
        pressed.delete(next.name)
        continue
      }
      await settled(page, reading)
      const top = await topOf(page)
      if (top === wholePage) continue
      const heading = plain(
        await page
          .locator(top)
          .last()
          .evaluate((node) => `${node.id} ${node.querySelector('h2')?.textContent ?? ''}`),
      )
      if (walked.has(heading)) continue
      walked.add(heading)
      await opened([...way, next.name].join(' > '))
      await walk([...way, next.name], top)
    }
  }

  const begun = (request: Request) => void (isRead(request) && reading.add(request))
  const over = (request: Request) => void reading.delete(request)
  page.on('request', begun).on('requestfinished', over).on('requestfailed', over)
  await reach([])
  await walk([], wholePage)
  await reach([])
  page.off('request', begun).off('requestfinished', over).off('requestfailed', over)
  return [...pressed]
}
