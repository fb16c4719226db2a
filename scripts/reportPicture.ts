/**
 * Draws the picture of a report anew: `npm run pictures`. It takes three weeks of the paper venue's made-up prices, runs the shipped trend over them as
 * docs/backtesting.md says, and writes docs/pictures/report.jpg, and report-trade.jpg of a trade with its story. Needs a Chromium on the machine.
 */
import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { launchBrowser } from '../test/world/consoleBrowser.ts'
import { scratch } from '../test/world/processes.ts'

const root = resolve(import.meta.dirname, '..')
const folder = scratch()
const perpd = (...args: readonly string[]): void => {
  const program = join(root, 'src', 'cli', 'bin.ts')
  execFileSync(process.execPath, [program, ...args], { cwd: folder.path, stdio: 'inherit' })
}

const browser = await launchBrowser()
try {
  perpd('data', 'get', 'ETH', '--from=2026-11-01', '--to=2026-11-22', '--profile=paper')
  const span = ['--from=2026-11-03', '--to=2026-11-22', '--turn-seconds=300']
  const file = join(root, 'strategies', 'eth-trend.yaml')
  perpd('backtest', file, ...span, '--fast', '--profile=paper', '--out=run')
  perpd('report', 'run')
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
  await page.goto(pathToFileURL(join(folder.path, 'run', 'report.html')).href)
  await page.locator('button[data-trade]').nth(2).click()
  await page.locator('#story summary').first().click()
  await page.evaluate('scrollTo(0, 0)')
  const edgeOf = async (selector: string) => {
    const { y = 0, height = 0 } = (await page.locator(selector).boundingBox()) ?? {}
    return { top: Math.floor(y), bottom: Math.ceil(y + height) }
  }
  const draw = async (name: string, top: number, bottom: number): Promise<void> => {
    const path = join(root, 'docs', 'pictures', name)
    const clip = { x: 0, y: top, width: 1_280, height: bottom - top }
    await page.screenshot({ path, type: 'jpeg', quality: 70, fullPage: true, clip })
    process.stdout.write(`${path}\n`)
  }
  await draw('report.jpg', 0, (await edgeOf('#equity')).bottom)
  await draw('report-trade.jpg', (await edgeOf('#trades')).top, (await edgeOf('#story')).bottom)
} finally {
  await browser.close()
  folder.remove()
}
