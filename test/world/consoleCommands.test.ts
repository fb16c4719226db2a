/** Every command of the console's page in a real browser over the real daemon on paper: each is carried out, and survives a reload. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { chartTexts } from '../../src/control/console/page/chart/chartTexts.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import {
  ask,
  type ConsolePlace,
  carriedOut,
  consoleOf,
  loggedIn,
  type Served,
  sent,
  sentTyped,
  servedIn,
  stopBy,
  toPage,
} from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { daemonFlags, perpd, startPaper, until, writeOnceStrategy } from './processes.ts'

const options = { timeout: 240_000 }
const eth = 'ETH/USD [WETH-USDC]'

const here = pageTests()

/** A daemon with one strategy of these lines; `enabled: false`: whatever happens is by hand. */
async function daemonWith(...lines: readonly string[]): Promise<Served> {
  const file = join(here.folder, 'own.yaml')
  writeFileSync(
    file,
    `${['kind: trend', `market: ${eth}`, 'size: { usd: 500, leverage: 2, collateral: short }', ...lines].join('\n')}\n`,
  )
  return await servedIn(here.folder, [
    `--strategies.paths=${file}`,
    '--paper.startBalances=USDC=100000,ETH=10,WETH=10',
  ])
}

/** Opens by hand, as `perpd open` does, when no earlier order holds the side of the market any more. */
async function open(daemon: ConsolePlace, body: Readonly<Record<string, unknown>>): Promise<void> {
  await until('the side is free', async () =>
    (await openOnce(daemon, body)) === 'SLOT_BUSY' ? undefined : true,
  )
}

async function openOnce(
  daemon: ConsolePlace,
  body: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const order = { market: eth, direction: 'long', leverage: '2', by: 'ann', ...body }
  const answer = await ask(daemon, '/api/orders', order)
  const { error, message } = (await answer.json()) as { readonly error?: string; readonly message?: string }
  if (error !== 'SLOT_BUSY') expect([answer.status, message]).toEqual([200, undefined])
  return error
}

const rows = (page: Page, section: string) => page.locator(`#${section} tbody tr`)

pageTest(
  'of two positions on one side the one that was clicked closes, and a resting order that was cancelled is gone',
  options,
  async () => {
    const daemon = await daemonWith('enabled: false')
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await open(daemon, { id: 'by-weth', size: '400', collateral: 'long' })
    await open(daemon, { id: 'by-usdc', size: '600', collateral: 'short' })
    await open(daemon, { id: 'resting', direction: 'short', size: '200', limit: '100000', far: true })
    await page.waitForSelector(`#positions button[aria-label="Close long ${eth} on the short token"]`)
    await page.click(`#positions button[aria-label="Close long ${eth} on the long token"]`)
    await page.waitForSelector('#positions tbody tr >> text=NO STOP')
    await page.waitForSelector('dialog[open] >> text=$400.')
    await sent(page, texts.dialog.would)
    // Who reads from above sees what it would do before the word that lets it.
    expect(await page.locator('dialog[open] form > .outcome ~ fieldset input[name=typed]').count()).toBe(1)
    await sentTyped(page, 'close')
    await page.waitForSelector(`#positions button[aria-label="Close long ${eth} on the long token"]`, {
      state: 'detached',
    })
    await page.reload()
    await page.waitForSelector('#positions tbody tr >> text=on the short token')
    expect(await rows(page, 'positions').allInnerTexts()).toEqual([expect.stringContaining('$600.')])

    await toPage(page, 'orders')
    // The close may still be on its way, and could be cancelled too.
    await page.click('#orders tbody tr:has-text("$200.00") button[aria-label^="Cancel order"]')
    await sent(page, texts.dialog.would)
    expect(await page.locator('dialog[open] input[name=typed]').count()).toBe(0)
    await carriedOut(page)
    await page.waitForSelector('#orders tbody tr:has-text("$200.00") >> text=cancelled')
    await page.reload()
    await page.waitForSelector('#orders tbody tr:has-text("$200.00") >> text=cancelled')
    await page.waitForSelector('#orders button[aria-label^="Cancel order"]', { state: 'detached' })

    await toPage(page, 'trade')
    // Every button of a position is in sight where all columns hardly fit, the one that closes it above all.
    await page.setViewportSize({ width: 1_525, height: 900 })
    const [edge, button] = await Promise.all([
      page.locator('#positions').boundingBox(),
      page.locator('#positions button[aria-label^="Close long"]').boundingBox(),
    ])
    expect((button?.x ?? 0) + (button?.width ?? 0)).toBeLessThanOrEqual((edge?.x ?? 0) + (edge?.width ?? 0))
    await page.click('#positions button[aria-label^="Protect long"]')
    await page.fill('dialog[open] input[name=stopLoss]', '10%')
    await sent(page, texts.dialog.would)
    await carriedOut(page)
    const stop = '#resting tbody tr:has-text("stop"):has-text("$600.00")'
    await page.waitForSelector(stop)
    // The dialog holds what is in force now, and its own button beside the order moves it: an edit of the same order.
    await page.click('#positions button[aria-label^="Protect long"]')
    await page.waitForSelector('dialog[open] .facts >> text=there before costs, by hand')
    expect(await page.inputValue('dialog[open] input[name=stopLoss]')).toMatch(/^\d+\.\d\d$/)
    await page.keyboard.press('Escape')
    await page.focus(`${stop} >> button[aria-label^="Move… stop of long"]`)
    await page.keyboard.press('Enter')
    await page.fill('dialog[open] input[name=price]', '0,9')
    await page.waitForSelector(`dialog[open] label >> text=${chartTexts.notPrice('0,9')}`)
    await page.fill('dialog[open] input[name=price]', '1,234.50')
    await sent(page, texts.dialog.would)
    await carriedOut(page)
    await page.waitForSelector(`${stop}:has-text("$1,234.50")`)
    await page.waitForSelector(`${stop} >> button[aria-label^="Cancel… stop of long"]`)
    // Who may only read has no buttons.
    const reader = await loggedIn(here.browser, daemon, 'read')
    await reader.page.waitForSelector(stop)
    expect(await reader.page.locator('#resting tbody .tools button').count()).toBe(0)
    expect([...complaints, ...reader.complaints]).toEqual([])
  },
)

pageTest(
  'who cancels the last stop of a position is told before and types it, and a limit that is tightened holds at once',
  options,
  async () => {
    const daemon = await daemonWith('enabled: false')
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await open(daemon, { id: 'stopped', size: '400', stopLoss: '1300' })
    await page.waitForSelector('#positions .stop >> text=$')
    await toPage(page, 'risk')
    // The bars follow what another hand opened, without a word from this page.
    await page.waitForSelector('#limits .rows >> text=$400.00 of')
    await toPage(page, 'orders')
    await page.click('#orders button[aria-label^="Cancel order"]')
    await sent(page, texts.dialog.would)
    await page.waitForSelector('dialog[open] .outcome >> text=stays open without a stop-loss')
    expect(await page.isDisabled('dialog[open] .tools button:not([type=button])')).toBe(true)
    await sentTyped(page, 'no stop')
    await toPage(page, 'trade')
    await page.waitForSelector('#positions tbody tr >> text=NO STOP')

    await page.click('#positions button[aria-label^="Close long"]')
    await page.fill('dialog[open] input[name=percent]', '150')
    await page.waitForSelector(`dialog[open] >> text=${texts.commands.noShare}`)
    await page.keyboard.press('Escape')

    await toPage(page, 'risk')
    await page.click('#limits >> text=Tighten…')
    await page.fill('dialog[open] input[name=limit]', 'maxTotalExposureUsd')
    await page.fill('dialog[open] input[name=value]', '1500')
    await sent(page, texts.dialog.would)
    await carriedOut(page)
    await page.waitForSelector('#limits .rows >> text=of $1,500.00')
    expect(complaints).toEqual([])
  },
)

pageTest(
  'a kill without closing leaves the position and cancels what rests; halted stays halted over a reload',
  options,
  async () => {
    const daemon = await daemonWith('enabled: false')
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await open(daemon, { id: 'held', size: '400' })
    await open(daemon, { id: 'resting', direction: 'short', size: '200', limit: '100000', far: true })
    await rows(page, 'positions').first().waitFor()
    await toPage(page, 'orders')
    await page.waitForSelector('#orders button[aria-label^="Cancel order"]')
    // The dialog counts what is known when it opens.
    await until('the dialog counts what rests', async () => {
      await stopBy(page, 'kill')
      await page.waitForSelector('dialog[open] input[name=typed]')
      if (
        (await page.locator('dialog[open] >> text=1 by perpd, exits included, 0 by other clients').count()) >
        0
      )
        return true
      await page.keyboard.press('Escape')
      await page.waitForSelector('dialog[open]', { state: 'detached' })
      return undefined
    })
    await page.fill('dialog[open] input[name=typed]', 'kil')
    expect(await page.isDisabled('dialog[open] .tools button:not([type=button])')).toBe(true)
    await sentTyped(page, 'kill')
    await page.waitForSelector('#orders tbody tr:has-text("$200.00") >> text=cancelled')
    await page.reload()
    await page.waitForSelector('.top >> text=HALTED')
    await toPage(page, 'trade')
    await rows(page, 'positions').first().waitFor()
    expect(await rows(page, 'positions').count()).toBe(1)
    expect(complaints).toEqual([])
  },
)

pageTest(
  'a strategy that is paused stays so over a reload until it is resumed, and a task that is stopped stays stopped',
  options,
  async () => {
    const daemon = await daemonWith()
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await toPage(page, 'strategies')
    await page.click('#strategies tbody .tools button')
    await page.fill('dialog[open] input[name=reason]', 'lunch')
    await carriedOut(page)
    await page.waitForSelector('#strategies tbody >> text=lunch')
    await page.reload()
    await page.waitForSelector('#strategies tbody >> text=lunch')
    await page.click('#strategies tbody .tools button')
    await carriedOut(page)
    await page.waitForSelector('#strategies tbody >> text=lunch', { state: 'detached' })

    // What holds one strategy alone is lifted where it is told.
    const held = { state: 'reducing', scope: 'strategy:own', reason: 'too wild', by: 'ann' }
    expect((await ask(daemon, '/api/trading', held)).status).toBe(200)
    await toPage(page, 'risk')
    await page.waitForSelector('#attention >> text=too wild')
    await page.click('#attention button[aria-label="Resume trading: strategy:own"]')
    await page.waitForSelector(`dialog[open] >> text=${texts.commands.lift}`)
    await carriedOut(page)
    const told = page.locator('#attention >> text=too wild')
    await told.first().waitFor({ state: 'detached' })
    await page.reload()
    await page.waitForSelector('#limits .rows li')
    expect(await told.count()).toBe(0)

    await toPage(page, 'strategies')
    await page.waitForSelector('#strategies tbody >> text=own')

    await page.click('#strategies button[aria-label="Show the file of own"]')
    await page.waitForSelector('dialog[open] >> text=at the next turn')
    await page.click('dialog[open] button[aria-label="Change size.usd"]')
    expect(await page.inputValue('dialog[open] input[name=field]')).toBe('size.usd')
    expect(await page.inputValue('dialog[open] input[name=value]')).toBe('500')
    await page.fill('dialog[open] input[name=value]', '450')
    await sent(page, 'size.usd 500 -> 450')
    await carriedOut(page)
    expect(readFileSync(join(here.folder, 'own.yaml'), 'utf8')).toContain('usd: 450')

    await page.click('#tasks >> text=Twap…')
    await page.fill('dialog[open] input[name=market]', eth)
    await page.fill('dialog[open] input[name=size]', '400')
    // Fees that may exceed 2 % of the size are agreed to.
    await page.fill('dialog[open] input[name=maxFees]', '100')
    await sent(page, texts.dialog.would)
    await carriedOut(page)
    await page.waitForSelector('#tasks .rows li >> text=running')
    await page.reload()
    await page.click('#tasks .rows li button')
    await carriedOut(page)
    await page.waitForSelector('#tasks .rows li >> text=stopped')
    await page.reload()
    await page.waitForSelector('#tasks .rows li >> text=stopped')
    expect(complaints).toEqual([])
  },
)

pageTest(
  'discrepancies are settled by typed words, ignored or adopted, and are asked for no more, after a kill -9 and a restart neither',
  { timeout: 480_000 },
  async () => {
    const paper = await startPaper(['--paper.keeperDelayMs=200', '--paper.keeperJitterMs=0'])
    writeOnceStrategy(here.folder)
    /** A client of the same account with a journal of its own. */
    const client = (name: string): readonly string[] => {
      const own = join(here.folder, name)
      mkdirSync(own, { recursive: true })
      return [
        ...daemonFlags(here.folder, paper.hosts),
        `--journal.path=${join(own, 'journal.sqlite')}`,
        `--control.tokenFile=${join(own, 'control.token')}`,
        `--rpc.http=${paper.hosts.rpc[0]}`,
      ]
    }
    const before = perpd(['run', ...client('before')])
    const isFilled = () => before.said().includes('"event":"order.filled"') || undefined
    await until('a position is held', isFilled, { seen: before.said })
    const first = { console: await consoleOf(before), tokens: join(here.folder, 'before') }
    await open(first, { id: 'by-hand', direction: 'short', size: '300' })
    const areFilled = () => before.said().split('"event":"order.filled"').length > 2 || undefined
    await until('another is held', areFilled, { seen: before.said })
    before.child.kill('SIGTERM')
    await before.ended
    const fresh = async () => {
      const daemon = perpd(['run', ...client('fresh')])
      const served = { console: await consoleOf(daemon), tokens: join(here.folder, 'fresh') }
      return { daemon, ...(await loggedIn(here.browser, served, 'operate')) }
    }
    const { daemon, page, complaints } = await fresh()
    // The gravest matter stands in the head of each page with its buttons; the whole list is on one.
    await page.waitForSelector('.alarm button:has-text("Ignore…")')
    await page.click('.alarm a')
    await page.waitForSelector('#attention button:has-text("Ignore…") >> nth=1')
    await page.click('#attention button:has-text("Ignore…") >> nth=0')
    await sentTyped(page, 'ignore')
    await page.waitForSelector('#attention button:has-text("Ignore…") >> nth=1', { state: 'detached' })
    await page.click('#attention button >> text=Adopt…')
    await sentTyped(page, 'adopt')
    await page.waitForSelector('#attention >> text=Discrepancy', { state: 'detached' })
    await page.reload()
    await page.waitForSelector('#limits .rows li')
    expect(await page.locator('.alarm >> text=Discrepancy').count()).toBe(0)
    expect(await page.locator('#attention >> text=Discrepancy').count()).toBe(0)
    expect(complaints).toEqual([])
    daemon.child.kill('SIGKILL')
    await daemon.ended
    const again = await fresh()
    await rows(again.page, 'positions').first().waitFor()
    expect(await again.page.locator('.alarm >> text=Discrepancy').count()).toBe(0)
    expect(again.complaints).toEqual([])
  },
)
