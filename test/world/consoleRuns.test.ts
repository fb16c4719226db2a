/** Backtests from the console in a real browser: one is started, followed, cancelled and read, by the real daemon and its own processes. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { runTexts } from '../../src/control/console/page/runTexts.ts'
import { loggedIn, minutesCsv, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { perpd } from './processes.ts'

const here = pageTests()

async function begin(page: Page, from: string, to: string): Promise<void> {
  await page.click(`#runs >> text=${runTexts.start}`)
  await page.fill('dialog[open] input[name=from]', from)
  await page.fill('dialog[open] input[name=to]', to)
  await page.click(`dialog[open] >> text=${runTexts.send}`)
}

/** What axe finds of the two upper grades. */
async function graveOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<
    readonly { id: string; impact: string | null; nodes: readonly { html: string }[] }[]
  >('axe.run().then(({ violations }) => violations)')
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

pageTest(
  'an operator starts a backtest, sees it pass, cancels one, and opens a report that keeps to itself',
  { timeout: 600_000 },
  async () => {
    const { folder } = here
    mkdirSync(join(folder, 'strategies'), { recursive: true })
    writeFileSync(
      join(folder, 'strategies', 'mine.yaml'),
      readFileSync(join(import.meta.dirname, '../../strategies/eth-trend.yaml')),
    )
    writeFileSync(join(folder, 'eth.csv'), minutesCsv())
    const imported = perpd(['data', 'import', 'eth.csv', '--market', 'ETH', '--source', 'made'], {
      cwd: folder,
    })
    expect(await imported.ended, imported.said()).toBe(0)
    const daemon = await servedIn(folder, [`--strategies.paths=${join(folder, 'strategies')}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')

    await toPage(page, 'results')
    // One that cannot be made says why in the program's own words.
    await begin(page, '2024-02-01', '2024-02-02')
    await page.waitForSelector('#runs .problem pre >> text=/candles/i', { timeout: 240_000 })
    await begin(page, '2024-01-02', '2024-01-03')
    await page.waitForSelector('#runs progress')
    await page.click(`#runs >> text=${runTexts.cancel}`)
    await page.waitForSelector('#run-job >> text=was cancelled')
    await begin(page, '2024-01-02', '2024-01-03')
    await page.waitForSelector('#run-job >> text=is over', { timeout: 240_000 })
    const sentence = await page.textContent('#runs tbody tr:has(a) th small:last-child')
    expect(sentence).toMatch(/\$/)

    const [report] = await Promise.all([
      page.context().waitForEvent('page'),
      page.click(`#runs tbody >> text=${runTexts.report}`),
    ])
    const faults: string[] = []
    report.on('pageerror', (error) => faults.push(String(error)))
    await report.waitForSelector('[data-chart=equity] canvas')
    expect(await report.textContent('#sentence')).toBe(sentence)
    // Its origin is nobody's: it has no opener, and reads neither the console's key nor its port.
    expect(await report.evaluate('[self.origin, String(window.opener)]')).toEqual(['null', 'null'])
    await expect(report.evaluate('sessionStorage.length')).rejects.toThrow()
    await expect(report.evaluate('localStorage.length')).rejects.toThrow()
    await report.reload()
    await report.waitForSelector('[data-chart=equity] canvas')

    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect([colorScheme, 'page', await graveOf(page)]).toEqual([colorScheme, 'page', []])
      await page.click(`#runs >> text=${runTexts.start}`)
      expect([colorScheme, 'dialog', await graveOf(page)]).toEqual([colorScheme, 'dialog', []])
      await page.keyboard.press('Escape')
      await page.setViewportSize({ width: 360, height: 800 })
      expect([colorScheme, 'phone', await graveOf(page)]).toEqual([colorScheme, 'phone', []])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
      await page.setViewportSize({ width: 1_440, height: 900 })
    }
    expect([...complaints, ...faults]).toEqual([])

    // A run that is being made ends with the daemon, and leaves what the same command resumes.
    await begin(page, '2024-01-02', '2024-01-03')
    await page.waitForSelector('#runs progress')
    daemon.child.kill('SIGTERM')
    await daemon.ended
    const runs = readdirSync(join(folder, 'var', 'runs')).map((name) =>
      readdirSync(join(folder, 'var', 'runs', name)),
    )
    expect(runs.filter((files) => files.includes('result.json'))).toHaveLength(1)
  },
)
