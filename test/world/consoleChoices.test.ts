/** What somebody chooses for a browser, and a deposit: local times, sounds and notifications, and figures that money from outside does not move. */
import type { BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { alarmTexts } from '../../src/control/console/page/alarms/alarmTexts.ts'
import { chartTexts } from '../../src/control/console/page/chart/chartTexts.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { ask, consoleOf, loggedIn, type Served, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { daemonFlags, type PaperHosts, perpd, startPaper, until, writeOnceStrategy } from './processes.ts'

const here = pageTests()
const options = { timeout: 300_000 }

async function servedOn(hosts: PaperHosts): Promise<Served> {
  writeOnceStrategy(here.folder)
  const daemon = perpd(['run', ...daemonFlags(here.folder, hosts)], { cwd: here.folder })
  return { ...daemon, console: await consoleOf(daemon), tokens: here.folder }
}

/** A page of this context, with a list of what was drawn, sounded and notified on it. */
async function watched(context: BrowserContext, daemon: Served) {
  await context.addInitScript(() => {
    const seen = { drawn: [] as string[], sounds: [] as number[], notices: [] as string[] }
    const draw = CanvasRenderingContext2D.prototype.fillText
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      seen.drawn.push(String(text))
      return draw.call(this, text, ...rest)
    }
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (...rest) {
      seen.sounds.push(this.frequency.value)
      return start.call(this, ...rest)
    }
    const Shown = window.Notification
    window.Notification = class extends Shown {
      constructor(title: string, init?: NotificationOptions) {
        super(title, init)
        seen.notices.push(init?.body ?? '')
      }
    }
    Object.assign(window, { seen })
  })
  const own = await loggedIn({ newPage: () => context.newPage() }, daemon, 'operate')
  return { ...own, seen: (what: 'drawn' | 'sounds' | 'notices') => seenOn(own.page, what) }
}

const seenOn = (page: Page, what: string): Promise<readonly unknown[]> =>
  page.evaluate((name) => (window as unknown as { seen: Record<string, unknown[]> }).seen[name] ?? [], what)

/** Dollars of a figure of the head. */
async function figure(page: Page, name: string): Promise<number> {
  const text = await page.locator(`.top .figures div:has(dt:has-text("${name}")) dd`).innerText()
  return Number(text.replace(/[$,+%]/g, ''))
}

pageTest(
  'a deposit of $5,000 moves neither PnL nor drawdown, and the curve names it and goes on without it',
  options,
  async () => {
    const paper = await startPaper(['--paper.startBalances=USDC=10000', '--paper.startBalances=ETH=1'])
    const daemon = await servedOn(paper.hosts)
    const { page, complaints, seen } = await watched(await here.browser.newContext(), daemon)
    await page.waitForSelector('#positions tbody tr')
    // Money that comes in within half a minute after a fill cannot be told from what the fill did.
    const openedMs = (await statusOf(daemon)).nowMs
    await until('the lists are settled', async () => {
      const { equity, nowMs } = await statusOf(daemon)
      const isSettled = equity?.equityAtMs !== undefined && equity.isEquitySettling !== true
      return isSettled && nowMs - openedMs > 45_000 ? true : undefined
    })
    const pnlOf = () => figure(page, texts.headline.day)
    const [before, pnl] = [await figure(page, texts.headline.equity), await pnlOf()]
    const { account } = await statusOf(daemon)
    // $252 of the first ones are the position's collateral and its costs.
    const answer = await fetch(`${paper.control}/accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ address: account, balances: { USDC: '14748' } }),
    })
    expect(answer.status).toBe(200)
    // Neither before the daemon knows what came in nor after.
    const pnls: number[] = []
    await until('the deposit is told', async () => {
      pnls.push(await pnlOf())
      return (await statusOf(daemon)).transfers.length > 0 ? true : undefined
    })
    await until('the equity has it', async () => {
      pnls.push(await pnlOf())
      return (await figure(page, texts.headline.equity)) > before + 4_000 ? true : undefined
    })
    pnls.push(await pnlOf())
    expect(pnls.filter((each) => Math.abs(each - pnl) > 100)).toEqual([])
    expect(await figure(page, texts.headline.drawdown)).toBeLessThan(1)
    await toPage(page, 'results')
    await page.waitForSelector('#equity figcaption >> text=/Deposited: \\$(4,9|5,0)/')
    const said = await page.locator('#equity figcaption strong').innerText()
    const [, rest = '', gain = ''] = /would be \$([\d,.]+): ([-+]?)\$?[\d,.]+ of PnL/.exec(said) ?? []
    expect([said, Math.abs(Number(rest.replaceAll(',', '')) - before) < 100]).toEqual([said, true])
    expect(gain).toMatch(/^[-+]?$/)
    await until('the chart names it', async () =>
      (await seen('drawn')).some((text) => /^\+\$(4,9|5,0)\d\d\.\d\d deposit$/.test(String(text)))
        ? true
        : undefined,
    )
    // The line of falls did not take it for a new peak, and nothing of it is in the days.
    expect(await page.locator('#days').innerText()).not.toMatch(/\$[45],\d{3}/)
    expect(complaints).toEqual([])
  },
)

interface Told {
  readonly account: string
  readonly nowMs: number
  readonly transfers: readonly unknown[]
  readonly equity?: { readonly equityAtMs?: number; readonly isEquitySettling?: boolean }
}

const statusOf = async (daemon: Served): Promise<Told> =>
  (await (await ask(daemon, '/api/status')).json()) as Told

pageTest(
  'local time changes clocks and axes and is named in the head, outlasts a reload, and changes no sum of a day',
  options,
  async () => {
    const paper = await startPaper()
    const daemon = await servedOn(paper.hosts)
    const context = await here.browser.newContext({ timezoneId: 'Asia/Kolkata' })
    const { page, complaints, seen } = await watched(context, daemon)
    await page.waitForSelector('#positions tbody tr')
    await page.waitForSelector('#prices canvas')
    const zone = page.locator('.top button.zone')
    expect(await zone.innerText()).toBe('UTC')
    const timesOf = async () => {
      await toPage(page, 'system')
      await page.waitForSelector('#log li time')
      const clock = await page.locator('#log li time').last().innerText()
      await toPage(page, 'results')
      await page.waitForSelector('#days td.day button')
      const days = await page.locator('#days .calendar').innerText()
      await toPage(page, 'trade')
      await page.waitForSelector('#prices canvas')
      await page.click(`text=${chartTexts.asTable}`)
      const candle = await page.locator('table:has(caption) tbody th').first().innerText()
      return { clock, days, candle }
    }
    const utc = await timesOf()
    const drawnBefore = (await seen('drawn')).length
    await zone.click()
    expect(await zone.innerText()).toBe(texts.zone.local('UTC+5:30'))
    expect(await zone.evaluate((node) => node === document.activeElement)).toBe(true)
    await page.reload()
    await page.waitForSelector('#positions tbody tr')
    expect(await zone.innerText()).toBe(texts.zone.local('UTC+5:30'))
    const local = await timesOf()
    const minutes = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
    expect((minutes(local.clock) - minutes(utc.clock) + 1_440) % 1_440).toBe(330)
    expect(Date.parse(`${local.candle}Z`) - Date.parse(`${utc.candle}Z`)).toBe(330 * 60_000)
    expect(local.days).toBe(utc.days)
    // Hours of the axis end in the zone's half hours.
    expect(drawnBefore).toBeGreaterThan(0)
    expect((await seen('drawn')).some((text) => /^\d\d:[03]0$/.test(String(text)))).toBe(true)
    expect(complaints).toEqual([])
  },
)

pageTest(
  'no event sounds or notifies before it was chosen; what was chosen does, once; and where notifications are impossible the page says why',
  options,
  async () => {
    const paper = await startPaper()
    const daemon = await servedOn(paper.hosts)
    const context = await here.browser.newContext()
    await context.grantPermissions(['notifications'])
    const { page, complaints, seen } = await watched(context, daemon)
    await page.waitForSelector('#positions tbody tr')
    const open = async (id: string) => {
      const terms = { market: 'ETH/USD [WETH-USDC]', direction: 'short', size: '100', leverage: '2' }
      const answer = await ask(daemon, '/api/orders', { ...terms, id, by: 'ann' })
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    }
    await open('quiet')
    await page.waitForSelector('#positions tbody tr >> nth=1')
    expect([await seen('notices'), await seen('sounds')]).toEqual([[], []])
    await toPage(page, 'system')
    const boxes = page.locator('#alarms input[type=checkbox]')
    expect(await boxes.count()).toBe(10)
    for (const box of await boxes.all()) expect(await box.isChecked()).toBe(false)
    await page.check('#alarms input[name=notify-fill]')
    await page.check('#alarms input[name=notify-halt]')
    await page.check('#alarms input[name=sound-halt]')
    // The choice is heard at once.
    expect(await seen('sounds')).toEqual([294])
    await open('loud')
    await until('the fill is notified', async () => ((await seen('notices')).length > 0 ? true : undefined))
    expect(await seen('notices')).toEqual([
      expect.stringMatching(/^Filled: ETH\/USD \[WETH-USDC\] short \$100\.00/),
    ])
    expect(
      (await ask(daemon, '/api/trading', { state: 'halted', reason: 'the night', by: 'ann' })).status,
    ).toBe(200)
    await until('the halt is notified', async () => ((await seen('notices')).length > 1 ? true : undefined))
    expect((await seen('notices'))[1]).toBe(alarmTexts.told.halt('HALTED'))
    expect(await seen('sounds')).toEqual([294, 294])
    // The choice outlasts a reload, and what was told is not told again.
    await page.reload()
    await page.waitForSelector('#alarms input[name=notify-fill]:checked')
    await page.waitForSelector('#log li time')
    expect([await seen('notices'), await seen('sounds')]).toEqual([[], []])
    expect(complaints).toEqual([])

    const plain = await here.browser.newContext()
    await plain.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }))
    const other = await watched(plain, daemon)
    await toPage(other.page, 'system')
    await other.page.waitForSelector(`#alarms >> text=${alarmTexts.impossible.insecure.slice(0, 40)}`)
    expect(await other.page.locator('#alarms input[name=notify-fill]').isDisabled()).toBe(true)
    expect(await other.page.locator('#alarms input[name=sound-fill]').isEnabled()).toBe(true)
  },
)
