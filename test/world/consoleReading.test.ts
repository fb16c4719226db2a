/** What is looked for and looked at on the console's page: long lists, filters of orders and of the log, keys, and a page that does not move. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { addressOf } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf } from '../journal/story.ts'
import { loggedIn, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { writeOnceStrategy } from './processes.ts'

const former = 130

const here = pageTests()

/** A journal of orders that came to nothing on a former day, a minute apart. */
async function writeFormerOrders(path: string, newestMs: number): Promise<void> {
  const journal = createSqliteJournal({ path, clockNow: Date.now, holder: 'test' })
  for (let n = 1; n <= former; n += 1) {
    const acceptedAtMs = newestMs - (former - n) * 60_000
    const { intentId, accepted } = storyOf(n, { acceptedAtMs, strategy: 'former' })
    const evidence = { level: 'api', atMs: acceptedAtMs, statement: 'seen in a test' } as const
    const closing = { outcome: 'EXPIRED', code: 'EXPIRED', reason: 'its time ran out', evidence } as const
    await journal.append(accepted())
    await journal.append({ v: RECORD_VERSION, atMs: acceptedAtMs, intentId, kind: 'intent.closed', closing })
  }
  await journal.close()
}

/** What has the focus: the id of its element, or its name. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.id || document.activeElement.tagName.toLowerCase()')

/** Everything on the page that would move by itself: elements, and what stands before and after them, with what it is. */
const moving = `[...document.querySelectorAll('*')].flatMap((node) =>
  [undefined, '::before', '::after', '::backdrop'].flatMap((part) => {
    const { animationName, animationDuration, transitionDuration, scrollBehavior } = getComputedStyle(node, part)
    const lasts = (text) => text.split(',').some((each) => parseFloat(each) > 0)
    const moves = (animationName !== 'none' && lasts(animationDuration)) || lasts(transitionDuration) || scrollBehavior === 'smooth'
    return moves ? [node.tagName + '.' + node.className + (part ?? '')] : []
  }),
)`

pageTest(
  'long lists are looked through, orders and lines are filtered, keys lead to where they say, and a calm page does not move',
  { timeout: 240_000 },
  async () => {
    writeOnceStrategy(here.folder)
    const path = join(here.folder, 'former.sqlite')
    await writeFormerOrders(path, Date.now() - 2 * 86_400_000)
    const daemon = await servedIn(here.folder, [
      ...[`--strategies.paths=${join(here.folder, 'once.yaml')}`, `--journal.path=${path}`],
      `--control.tokenFile=${join(here.folder, 'var', 'paper', 'control.token')}`,
    ])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'read')
    const orders = page.locator('#orders tbody tr')
    await page.waitForSelector('#positions tbody tr')
    // Orders that the page does not know yet are not on its chart.
    await page.click('#prices .intervals >> text="1d"')
    await page.waitForSelector('#prices .credits >> text=are not on the chart')
    await toPage(page, 'orders')
    await page.waitForSelector('#orders tbody tr:has-text("once")')
    expect(await orders.count()).toBe(25)

    // More of the list, then those that the page does not have yet.
    for (const rows of [50, 75, 100]) {
      await page.click('#orders > .tools button:has-text("more")')
      await orders.nth(rows - 1).waitFor()
      expect(await orders.count()).toBe(rows)
    }
    await page.click('#orders button:has-text("Load older orders")')
    await page.locator('#orders-title', { hasText: /^Orders\s+100 of 1[3-9]\d/ }).waitFor()
    await page.click('#orders > .tools button:has-text("more")')
    await page.waitForSelector('#orders tbody tr:has-text("former") >> nth=99')

    // What is open alone; what contains a word.
    await page.check('#orders input[type=checkbox]')
    await page.waitForSelector('#orders tbody tr:has-text("former")', { state: 'detached' })
    await page.uncheck('#orders input[type=checkbox]')
    await page.waitForSelector('#orders tbody tr:has-text("former")')
    await page.keyboard.press('Escape')

    // The log by level, strategy and text.
    await toPage(page, 'system')
    const lines = page.locator('#log li')
    await page.waitForSelector('#log li >> text=filled at')
    const all = await lines.count()
    await page.fill('#log input[type=search]', 'filled at')
    await page.locator('#log li', { hasNotText: 'filled at' }).first().waitFor({ state: 'detached' })
    expect(await lines.count()).toBeLessThan(all)
    await page.fill('#log input[type=search]', '')
    await page.selectOption('#log select >> nth=1', 'once')
    await lines.nth(all - 1).waitFor({ state: 'detached' })
    expect(await lines.count()).toBeGreaterThan(0)
    await page.selectOption('#log select >> nth=1', '')
    await page.selectOption('#log select >> nth=0', 'error')
    await page.waitForSelector('#log li:not(.down)', { state: 'detached' })
    await page.selectOption('#log select >> nth=0', 'info')
    await page.waitForSelector('#log li >> text=filled at')

    // Keys: each leads to the page it names, with the focus on it.
    await page.click('h1')
    for (const [key, id] of [
      ['t', 'trade'],
      ['o', 'orders'],
      ['s', 'strategies'],
      ['r', 'results'],
      ['k', 'risk'],
      ['y', 'system'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForSelector(`main:focus[aria-label="${texts.pages[id]}"]`)
      expect(page.url()).toBe(`${daemon.console}${addressOf({ page: id })}`)
    }
    await toPage(page, 'orders')
    await page.waitForSelector('#orders tbody tr:has-text("former")')
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.className')).toBe('find')
    // What is typed there is no key of the page.
    await page.keyboard.type('g ponce?')
    expect(await page.inputValue('header .find:visible')).toBe('g ponce?')
    await page.fill('header .find:visible', 'once')
    await page.waitForSelector('#orders tbody tr:has-text("former")', { state: 'detached' })
    await page.keyboard.press('Escape')
    expect([await page.inputValue('header .find:visible'), await focused(page)]).toEqual(['', 'body'])
    await page.waitForSelector('#orders tbody tr:has-text("former")')
    await page.keyboard.press('?')
    await page.waitForSelector('dialog[open] #keys-title')
    // Behind a dialog no key leads away.
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    expect(page.url()).toContain(addressOf({ page: 'orders' }))
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'detached' })
    // By Tab alone the first thing is the way past the header.
    await page.reload()
    await page.waitForSelector('#orders tbody tr')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.className')).toBe('skip')

    await toPage(page, 'risk')
    await page.waitForSelector('#limits .meter')
    // A bar fills slowly, but where whoever looks asked for no motion.
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await page.evaluate<string[]>(moving)).not.toEqual([])
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await page.evaluate<string[]>(moving)).toEqual([])
    expect(complaints).toEqual([])
  },
)
