/** Results on the console's page: closed trades with filters in the address and a file, days that open their fills, and lines over time. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { usd } from '../../src/protocol/units.ts'
import { closed, executed, type Fill } from '../books/history.ts'
import { intentOf } from '../support/intents.ts'
import { loggedIn, servedIn } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { writeOnceStrategy } from './processes.ts'

const here = pageTests()
const { terms } = intentOf()
const dayMs = 86_400_000

/** Trades of former days, one a day: even ones of `trend` won, odd ones of `grid` lost. */
async function writeTrades(path: string, count: number, lastMs: number): Promise<void> {
  const journal = createSqliteJournal({ path, clockNow: Date.now, holder: 'test' })
  for (let trade = 0; trade < count; trade += 1) {
    const atMs = lastMs - (count - 1 - trade) * dayMs
    const strategy = trade % 2 === 0 ? 'trend' : 'grid'
    const basePnlUsd = trade % 2 === 0 ? usd('12.345') : usd('-3.333')
    const fill = (n: number, kind: 'increase' | 'decrease', atFillMs: number): Fill => ({
      ...{ n, kind, strategy, terms, atMs: atFillMs, relayFeeAmount: 500_000n },
      settlement: {
        ...{
          sizeDeltaUsd: usd(2_000),
          sizeDeltaInTokens: 10n ** 18n,
          executionPrice: usd(2_000),
          feesUsd: usd(1),
        },
        timestampSeconds: Math.floor(atFillMs / 1_000),
        ...(kind === 'increase' ? {} : { basePnlUsd, pnlUsd: basePnlUsd - usd(1) }),
      },
    })
    for (const made of [
      fill(2 * trade + 1, 'increase', atMs),
      fill(2 * trade + 2, 'decrease', atMs + 3_600_000),
    ])
      for (const record of [...executed(made), closed(made)]) await journal.append(record)
  }
  await journal.close()
}

pageTest(
  'closed trades are filtered by what the address says and downloaded with their sum; a day opens its fills; sums shown are sums of what is shown',
  { timeout: 240_000 },
  async () => {
    writeOnceStrategy(here.folder)
    const path = join(here.folder, 'trades.sqlite')
    const lastMs = Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs
    await writeTrades(path, 30, lastMs)
    const daemon = await servedIn(here.folder, [
      ...[`--strategies.paths=${join(here.folder, 'once.yaml')}`, `--journal.path=${path}`],
      `--control.tokenFile=${join(here.folder, 'var', 'paper', 'control.token')}`,
    ])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'read')
    await page.evaluate(`location.hash = '#/results'`)
    const rows = page.locator('#trades tbody tr:not(.sum)')
    await page.waitForSelector('#trades tbody tr')
    expect(await rows.count()).toBe(25)
    await page.click('#trades > .tools button')
    await page.waitForSelector('#trades tbody tr:not(.sum) >> nth=29')

    /** PnL of the rows as they are shown, in cents, and that of the line below them. */
    const shownCents = (): Promise<{ sum: number; line: number }> =>
      page.evaluate(`(() => {
        const cents = (row) =>
          Math.round(Number((row.querySelector('[data-label=PnL]')?.textContent ?? '').replace(/[$,+]/g, '')) * 100)
        const all = [...document.querySelectorAll('#trades tbody tr')]
        const rows = all.filter((row) => !row.classList.contains('sum'))
        const [last] = all.filter((row) => row.classList.contains('sum'))
        return { sum: rows.reduce((total, row) => total + cents(row), 0), line: cents(last) }
      })()`)
    const whole = await shownCents()
    expect(whole.sum).toBe(whole.line)

    // What is filtered is in the address, and comes back with it.
    await page.selectOption('#trades select[name=outcome]', 'lost')
    await page.waitForSelector('#trades tbody tr.sum >> text=/all 15,/')
    expect(new URL(page.url()).hash).toBe('#/results?outcome=lost')
    await page.reload()
    await page.waitForSelector('#trades tbody tr.sum >> text=/all 15,/')
    expect(await page.inputValue('#trades select[name=outcome]')).toBe('lost')
    const lost = await shownCents()
    expect(lost.sum).toBe(lost.line)

    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.click('#trades button[aria-label*=CSV]'),
    ])
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines).toHaveLength(17)
    const [names = [], ...cells] = lines.map((each) => each.split(','))
    const pnl = cells.map((row) => Number(row[names.indexOf('pnl_usd')]))
    expect(pnl.at(-1)).toBeCloseTo(
      pnl.slice(0, -1).reduce((sum, each) => sum + each, 0),
      6,
    )

    // A day without trades is empty; one with them opens its fills.
    const day = new Date(lastMs).toISOString().slice(0, 10)
    await page.click(`#days button[aria-label*="${day}"]`)
    await page.waitForSelector('#day-fills tbody tr >> nth=3')
    expect(await page.textContent('#day-fills h3')).toContain(day)
    expect(await page.locator('#day-fills tbody tr').count()).toBe(4)
    expect(await page.locator('#days td.day:not(:has(button))').count()).toBeGreaterThan(0)
    await page.waitForSelector('#over-time tbody tr:has-text("trend")')
    await page.selectOption('#over-time select', 'market')
    await page.waitForSelector('#over-time tbody tr:has-text("ETH/USD")')

    // The name of a day stands over its amounts, in a cell with a button or without one.
    const rightOf = async (selector: string) => {
      const box = await page.locator(selector).first().boundingBox()
      return (box?.x ?? 0) + (box?.width ?? 0)
    }
    for (const column of [2, 5, 8]) {
      const head = await rightOf(`.calendar thead th:nth-child(${column})`)
      const cells = page.locator(`.calendar tbody td:nth-child(${column})`)
      for (const cell of await cells.all()) {
        const box = await cell.boundingBox()
        expect(Math.abs((box?.x ?? 0) + (box?.width ?? 0) - head)).toBeLessThan(1)
      }
    }
    const widths = await page.evaluate<readonly number[]>(
      `[...document.querySelectorAll('.calendar thead th')].map(({ offsetWidth }) => offsetWidth)`,
    )
    expect(Math.max(...widths) - Math.min(...widths)).toBeLessThanOrEqual(1)
    // On a phone nothing of it is wider than the screen, and a day can be pressed.
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
    // A closed trade is a card of two lines there, and the filters stand behind one button.
    const cards = page.locator('#trades .cards > .card')
    expect(await cards.count()).toBe(16)
    for (const card of await cards.all())
      expect((await card.boundingBox())?.height ?? 99).toBeLessThanOrEqual(72)
    await cards.first().locator('.face').click()
    await cards.first().locator('.facts >> text=Sending').waitFor()
    await page.waitForSelector('#trades details[open] select[name=side]')
    await page.selectOption('#trades select[name=side]', 'long')
    await page.waitForURL(/outcome=lost&side=long|side=long/)
    expect(await page.locator('#trades summary').innerText()).toContain('2')
    const box = await page.locator('#days td.day button').first().boundingBox()
    expect(box?.height ?? 0).toBeGreaterThanOrEqual(44)
    // Without heads of columns each day says its name.
    const name = await page
      .locator('#days td.day small')
      .first()
      .evaluate((node) => getComputedStyle(node, '::before').content)
    expect(name).toContain('Mon')
    expect(complaints).toEqual([])
  },
)
