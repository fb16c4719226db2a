/** The console's page in a real browser over the real daemon: what is seen, what may be done, and what is left when it ends. */
import { resolve } from 'node:path'
import { expect } from 'vitest'
import { chartTexts } from '../../src/control/console/page/chart/chartTexts.ts'
import { pageIds } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import {
  ask,
  carriedOut,
  loggedIn,
  logIn,
  resume,
  type Served,
  sent,
  servedIn,
  stopBy,
  toPage,
} from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const options = { timeout: 300_000 }

const here = pageTests()

/** A daemon that trades. */
const trading = (port = '0'): Promise<Served> =>
  servedIn(here.folder, [`--control.port=${port}`, `--strategies.paths=${strategies}`])

pageTest(
  'whoever may read sees the account as it changes, has nothing to command with, and leaves nothing behind',
  options,
  async () => {
    const daemon = await trading()
    const { page, complaints } = await loggedIn(here.browser, daemon, 'read')
    await page.waitForSelector('.top >> text=live')
    // The trend of the paper venue opens within seconds of the start, with the stop of its file.
    await page.waitForSelector('#positions .stop >> text=$')
    await page.click('#prices .level-list summary')
    await page.waitForSelector('#prices .levels tr:has-text("entry")')
    await page.waitForSelector('#prices .candles canvas')
    // Prices that cannot be read: the page says so in the place of a chart, and beside one of before, until they can.
    await page.route('**/api/candles?*', (route) => route.fulfill({ body: 'no prices' }))
    await page.click('#prices .intervals >> text="1h"')
    await page.waitForSelector(`#prices >> text=${chartTexts.unread}`)
    await page.unroute('**/api/candles?*')
    await page.waitForSelector('#prices .candles canvas')
    await page.route('**/api/candles?*', async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { readonly readAtMs: number }
      await route.fulfill({ response, json: { ...answer, readAtMs: answer.readAtMs - 180_000 } })
    })
    await page.waitForSelector('#prices >> text=/These prices are 3 min \\d+ s old/')
    await page.unroute('**/api/candles?*')
    await page.waitForSelector('#prices >> text=These prices are', { state: 'detached' })
    await toPage(page, 'risk')
    await page.waitForSelector('#markets tbody small >> text=/incl. JIT \\$|without JIT/')
    await toPage(page, 'orders')
    await page.click('#orders tbody button')
    await page.waitForSelector('dialog[open] .timeline >> text=Verified and signed')
    await page.keyboard.press('Escape')
    // What a strategy's file says is read, and nothing of it changed.
    await toPage(page, 'strategies')
    await page.click('#strategies button[aria-label^="Show the file"]')
    await page.waitForSelector('dialog[open] >> text=params.')
    expect(await page.locator('dialog[open] button[aria-label^="Change"]').count()).toBe(0)
    await page.keyboard.press('Escape')
    const commands =
      '.actions, #positions button:not(.face), #strategies .tools button:not([aria-label^="Show the file"]), #tasks button'
    await page.setViewportSize({ width: 360, height: 800 })
    for (const id of pageIds) {
      await toPage(page, id)
      expect([id, await page.locator(commands).count()]).toEqual([id, 0])
      expect([id, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([id, 360])
    }
    await page.waitForSelector('#log li >> text=filled at')
    await page.click('text=Log out')
    await page.waitForSelector('input[name=token]')
    expect(await page.locator('table, .figures').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)

pageTest(
  'an operator closes everything by typed words alone, follows it to its end, and lets trading go on by typed words',
  options,
  async () => {
    const daemon = await trading()
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#positions tbody tr')
    await stopBy(page, 'killClose')
    await page.fill('dialog[open] input[name=typed]', 'close')
    expect(await page.isDisabled('dialog[open] .tools button:not([type=button])')).toBe(true)
    await page.fill('dialog[open] input[name=typed]', 'close everything')
    await sent(page, 'closing positions')
    await page.keyboard.press('Escape')
    await page.waitForSelector('.top >> text=HALTED')
    await page.waitForSelector(`#positions >> text=${texts.positions.none}`)
    await page.reload()
    await page.waitForSelector('.top >> text=HALTED')
    await page.waitForSelector(`#positions >> text=${texts.positions.none}`)
    await resume(page)
    await page.fill('dialog[open] input[name=typed]', 'active')
    await sent(page, 'trading is active')
    await page.keyboard.press('Escape')
    await page.waitForSelector('.top >> text=ACTIVE')
    expect(complaints).toEqual([])
  },
)

pageTest(
  'a refusal is shown with its code, and a command with a preview is sent only after it was seen',
  options,
  async () => {
    const daemon = await trading()
    const { page } = await loggedIn(here.browser, daemon, 'operate')
    await toPage(page, 'strategies')
    await page.click('#tasks >> text=Twap…')
    await page.fill('dialog[open] input[name=market]', 'NOPE/USD')
    await page.fill('dialog[open] input[name=size]', '400')
    // Fees that may exceed 2 % of the size are agreed to.
    await page.fill('dialog[open] input[name=maxFees]', '100')
    await sent(page, 'Refused: MARKET_UNKNOWN')
    await page.fill('dialog[open] input[name=market]', 'ETH/USD [WETH-USDC]')
    await sent(page, texts.dialog.would)
    expect(await page.locator('#tasks .rows li').count()).toBe(0)
    await carriedOut(page)
    await page.waitForSelector('#tasks .rows li >> text=running')
  },
)

pageTest(
  'a page whose daemon is gone says so, and asks for a log-in of the one that comes after it',
  options,
  async () => {
    const daemon = await trading()
    const { page } = await loggedIn(here.browser, daemon, 'read')
    await page.waitForSelector('.top >> text=live')
    daemon.child.kill('SIGKILL')
    await daemon.ended
    await page.waitForSelector('.top >> text=no connection')
    // What is old is faded; a form to log in with is not.
    const opacity = 'getComputedStyle(document.querySelector("main")).opacity'
    expect(await page.evaluate(opacity)).toBe('0.6')
    await trading(new URL(daemon.console).port)
    await page.waitForSelector('input[name=token]')
    expect(await page.evaluate(opacity)).toBe('1')
  },
)

pageTest(
  'an operator ends the sessions of other browsers, which close every dialog and ask for a log-in then; hosts show how they answer, and limits are read by all',
  options,
  async () => {
    const daemon = await trading()
    const { page: reader } = await loggedIn(here.browser, daemon, 'read')
    const { page: other } = await loggedIn(here.browser, daemon, 'operate')
    const own = await here.browser.newContext()
    const { page, complaints } = await loggedIn(own, daemon, 'operate')
    await toPage(reader, 'risk')
    await reader.waitForSelector('#limits .rows li')
    await toPage(reader, 'system')
    await reader.waitForSelector('#hosts .host >> text=requests failed')
    await stopBy(other, 'kill')
    await other.fill('dialog[open] input[name=typed]', 'kill')
    await toPage(page, 'system')
    await page.waitForSelector('#sessions >> text=THIS ONE')
    for (const nth of [1, 0]) {
      await page.click('#sessions button:has-text("End")')
      await page.waitForSelector(`#sessions button:has-text("End") >> nth=${nth}`, { state: 'detached' })
    }
    for (const ended of [reader, other]) {
      await ended.waitForSelector(`main.login >> text=${texts.login.over}`)
      expect(await ended.locator('dialog[open], table, .figures').count()).toBe(0)
    }
    expect(complaints).toEqual([])

    // Another log-in of the same browser takes the place of its session: the first tab is handed that one's half, and commands by it.
    const link = (await (await ask(daemon, '/api/console/link', {})).json()) as { readonly url: string }
    const tab = await own.newPage()
    await tab.goto(link.url)
    await tab.waitForSelector('.top >> text=live')
    expect(tab.url()).toBe(daemon.console)
    // The same link once more, in a tab of nobody: it is over, and a token begins a session there.
    const late = await (await here.browser.newContext()).newPage()
    await late.goto(link.url)
    await late.waitForSelector(`main.login >> text=${texts.login.linkOver}`)
    await logIn(late, daemon, 'read')
    await late.waitForSelector('#positions')
    // A link that is opened in a tab with the page takes its place there.
    const next = (await (await ask(daemon, '/api/console/link', {})).json()) as { readonly url: string }
    await late.goto(next.url)
    await late.waitForSelector('.actions >> text=Stop…')
    await late.close()
    await stopBy(page, 'reducing')
    await carriedOut(page)
    await tab.waitForSelector('.top >> text=REDUCING')

    // Who is not logged out is told so, and does not see a form to log in.
    await page.route('**/console/session', (route) => route.abort())
    await page.click('text=Log out')
    await page.waitForSelector('#sessions >> text=Not logged out')
    await page.waitForSelector('.figures')
    await page.unroute('**/console/session')
    await page.click('text=Log out')
    await page.waitForSelector('input[name=token]')
    expect(await page.locator(`text=${texts.login.over}`).count()).toBe(0)
    await tab.waitForSelector(`main.login >> text=${texts.login.over}`)
  },
)

pageTest(
  'what a start would take is shown with where each value comes from, found by what is typed, and without a secret',
  options,
  async () => {
    const daemon = await trading()
    const { page, complaints } = await loggedIn(here.browser, daemon, 'read')
    await toPage(page, 'system')
    await page.waitForSelector('#config >> text=0 of')
    await page.fill('#config input[type=search]', 'strategies.paths')
    expect(await page.locator('#config tbody tr').allInnerTexts()).toEqual([
      expect.stringContaining('flag --strategies.paths'),
    ])
    expect(complaints).toEqual([])
  },
)
