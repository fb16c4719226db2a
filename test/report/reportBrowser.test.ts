/** Reports of real runs: the journal and the fills say the same, and their pages in a real browser, read from disk without a network, have drawn charts and no fault. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import { usd } from '../../src/protocol/units.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from '../backtest/runKit.ts'
import { perpd } from '../cli/run.ts'
import { pageTest, pageTests } from '../world/pageTests.ts'

const here = pageTests()

const evil = '<script>document.title = "taken"</script>'

/** Opens a long at minute 2 and at minute 30, and closes each twenty minutes later; its reasons are hostile. */
function decide(view: StrategyView): readonly unknown[] {
  const row = view.market(market)
  if (row === undefined || view.openIntents.length > 0) return []
  const minute = (view.snapshot.atMs / 1000 - startSeconds) / 60
  const { marketToken, shortToken } = row.market
  const base = { marketToken, direction: 'long', reason: evil, collateralToken: shortToken } as const
  const [held] = view.positions(market)
  const isIn = (minute >= 2 && minute < 22) || (minute >= 30 && minute < 50)
  if (held !== undefined) return isIn ? [] : [{ kind: 'close', ...base } satisfies Decision]
  return isIn ? [{ kind: 'increase', ...base, sizeDeltaUsd: usd(1000), leverageBps: 20_000 } as Decision] : []
}

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string }[]
}

interface FiguresJson {
  readonly trades: readonly {
    readonly intentIds: readonly string[]
    readonly sizeUsd: string
    readonly costsUsd: string
    readonly resultUsd: string
    readonly openReason: string
  }[]
  readonly costs: Readonly<Record<string, string>>
}

/** What axe finds of the two upper grades. */
async function graveOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<readonly Violation[]>('axe.run().then(({ violations }) => violations)')
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`))
}

/** The charts that have no pixel. */
const emptyCharts = `[...document.querySelectorAll('[data-chart]')].filter((place) => {
  const canvas = place.querySelector('canvas')
  if (canvas === null || canvas.width === 0) return true
  return !canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0)
}).map((place) => place.dataset.chart)`

/** How much wider than its window the page is, px. */
const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** Opens a page from disk and reports what goes wrong in it. */
async function opened(browser: Browser, path: string, colorScheme: 'light' | 'dark', width: number) {
  const context = await browser.newContext({ colorScheme, offline: true, viewport: { width, height: 900 } })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    // The browser warns of the pixels that this test itself reads back.
    if (!message.text().includes('willReadFrequently')) faults.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) faults.push(request.url())
  })
  await page.goto(pathToFileURL(path).href)
  return { page, faults }
}

/**
 * Clicks down the chart of the first trade at a moment, in seconds after the beginning, until a mark there is met. The chart shows from twenty candles
 * before its entry to twenty after its exit.
 */
async function clickMark(page: Page, second: number): Promise<void> {
  const chart = page.locator('[data-chart=trade] .u-over')
  await chart.scrollIntoViewIfNeeded()
  const { width, height } = (await chart.boundingBox()) ?? { width: 0, height: 0 }
  const [from, to] = await page.evaluate<readonly [number, number]>(
    `(({ opened, closed }) => [opened - 1200, closed + 1200])(JSON.parse(document.getElementById('data').textContent).trades[0])`,
  )
  const x = ((startSeconds + second - from) / (to - from)) * width
  for (let y = 4; y < height; y += 16) {
    await chart.click({ position: { x, y } })
    if ((await page.locator('#story details[open]').count()) > 0 && !(await isFirst(page))) return
  }
}

const isFirst = async (page: Page): Promise<boolean> =>
  (await page.locator('tr.selected').getAttribute('data-trade')) === '0'

pageTest(
  'the page of a run and of two side by side: in light and in dark, on a wide screen and on a phone',
  { timeout: 120_000 },
  async () => {
    const folder = testFolder()
    const data = writeMinutes(folder, 60, (minute) => 2000 + Math.round(4000 * Math.sin(minute / 9)) / 100)
    const strategy = await strategyOf(folder, 'one', decide)
    await runFor(folder, data, 60, [strategy], { out: 'first' })
    await runFor(folder, data, 60, [strategy], { out: '<b>second', seed: 2 })
    const both = ['first', '<b>second'].map((name) => join(folder, name))
    expect(await perpd(folder, ['report', both[0] ?? ''])).toMatchObject({ code: 0 })
    expect(await perpd(folder, ['report', ...both, '--out', 'both.html'])).toMatchObject({ code: 0 })
    const figuresOf = async (...words: readonly string[]): Promise<FiguresJson> =>
      JSON.parse((await perpd(folder, ['report', ...words, '--json'])).out).statistics
    const ofRun = await figuresOf(both[0] ?? '')
    const ofJournal = await figuresOf(`--journal.path=${join(both[0] ?? '', 'journal.db')}`)
    const stories = ({ trades }: FiguresJson) =>
      trades.map(({ intentIds, sizeUsd, openReason }) => [intentIds, sizeUsd, openReason])
    expect(ofRun.trades).toHaveLength(2)
    expect(stories(ofJournal)).toEqual(stories(ofRun))
    // The same, but that a book has the costs of swaps in the fees of a fill, and measures them by what came out:
    // each of the two swaps is off by less than a unit of its token, a millionth of a dollar.
    const brought = ({ trades }: FiguresJson) =>
      trades.reduce((sum, each) => sum + BigInt(each.resultUsd), 0n)
    const { positionFeeUsd, swapUsd } = ofRun.costs
    const feesUsd = BigInt(ofJournal.costs.positionFeeUsd ?? 0)
    const roundedUsd = feesUsd - BigInt(positionFeeUsd ?? 0) - BigInt(swapUsd ?? 0)
    expect(BigInt(swapUsd ?? 0)).toBeGreaterThan(0n)
    expect(roundedUsd).toBeGreaterThanOrEqual(0n)
    expect(roundedUsd).toBeLessThan(2n * 10n ** 24n)
    expect(brought(ofRun) - brought(ofJournal)).toBe(roundedUsd)
    const paid = ({ trades }: FiguresJson) => trades.reduce((sum, each) => sum + BigInt(each.costsUsd), 0n)
    expect(paid(ofJournal) - paid(ofRun)).toBe(roundedUsd)
    expect({ ...ofJournal.costs, positionFeeUsd, swapUsd }).toEqual(ofRun.costs)
    for (const [file, colorScheme, width] of [
      ['first/report.html', 'light', 1280],
      ['first/report.html', 'dark', 390],
      ['both.html', 'dark', 1280],
      ['both.html', 'light', 390],
    ] as const) {
      const { page, faults } = await opened(here.browser, join(folder, file), colorScheme, width)
      const where = [file, colorScheme, width]
      expect([...where, await page.evaluate(emptyCharts)]).toEqual([...where, []])
      expect([...where, await page.evaluate(overhang)]).toEqual([...where, 0])
      expect([...where, await graveOf(page)]).toEqual([...where, []])
      expect([...where, await page.title()]).not.toContain('taken')
      if (file !== 'both.html') {
        const rows = page.locator('tr[data-trade]')
        expect(await rows.count()).toBe(2)
        const before = await page.locator('#story').textContent()
        await rows.first().click()
        const story = await page.locator('#story').textContent()
        expect(story).not.toBe(before)
        expect(story).toContain(`Reason for opening: ${evil}`)
        expect(story).toMatch(/perpd explain [0-9a-f]+ --journal\.path .*journal\.db/)
        expect(await page.locator('button[aria-pressed=true]').count()).toBe(1)
        // By the keyboard alone: the trade's own button, and from it the fold of each of its orders.
        await page.locator('button[data-trade]').first().press('Enter')
        const orders = page.locator('#story details')
        expect(await orders.count()).toBe(2)
        await orders.first().locator('summary').press('Enter')
        const told = await orders.first().locator('dl').innerText()
        expect(told).toContain(evil)
        expect(told).toMatch(
          /accepted at 2024-01-02 00:02:00[\s\S]*order 0 executed at \$[\s\S]*fees \$0\.\d\d/,
        )
        expect([...where, await graveOf(page)]).toEqual([...where, []])
        expect([...where, await page.evaluate(overhang)]).toEqual([...where, 0])
        expect(await page.evaluate(emptyCharts)).toEqual([])
        await clickMark(page, 30 * 60)
        expect(await page.locator('tr.selected').getAttribute('data-trade')).toBe('1')
        expect(await page.locator('#story details[open] dl').innerText()).toContain(
          'accepted at 2024-01-02 00:30:00',
        )
        const id = /perpd explain ([0-9a-f]+)/.exec(story ?? '')?.[1] ?? ''
        const explained = await perpd(folder, [
          'explain',
          id,
          `--journal.path=${join(both[0] ?? '', 'journal.db')}`,
        ])
        expect(explained).toMatchObject({ code: 0, out: expect.stringContaining('document.title') })
      }
      expect([...where, faults]).toEqual([...where, []])
      await page.context().close()
    }
  },
)
