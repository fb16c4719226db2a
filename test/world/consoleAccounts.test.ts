/** The console of a daemon with several accounts: one is chosen in the head, the address keeps it, and commands and backtests are for it alone. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runTexts } from '../../src/control/console/page/runTexts.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { ask, carriedOut, loggedIn, minutesCsv, servedIn, stopBy, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { perpd, until, writeOnceStrategy } from './processes.ts'

const here = pageTests()

pageTest(
  'an account is chosen in the head and kept in the address, and its page, its commands and its backtests are for it alone',
  { timeout: 400_000 },
  async () => {
    const { folder } = here
    writeOnceStrategy(folder)
    mkdirSync(join(folder, 'strategies'))
    const shipped = join(import.meta.dirname, '../../strategies/eth-trend.yaml')
    writeFileSync(join(folder, 'strategies', 'mine.yaml'), readFileSync(shipped))
    // Three hours of the second day are enough.
    const rows = minutesCsv()
      .split('\n')
      .slice(0, 1 + 27 * 60)
    writeFileSync(join(folder, 'eth.csv'), `${rows.join('\n')}\n`)
    const accounts = {
      alpha: { strategies: { paths: [join(folder, 'once.yaml')] } },
      beta: { strategies: { paths: [join(folder, 'strategies')] } },
    }
    writeFileSync(join(folder, 'perpd.json'), JSON.stringify({ accounts }))
    const imported = perpd(['data', 'import', 'eth.csv', '--market', 'ETH', '--source', 'made'], {
      cwd: folder,
    })
    expect(await imported.ended, imported.said()).toBe(0)
    const daemon = await servedIn(folder, [])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    const choice = page.getByLabel(texts.account.label, { exact: true })
    expect(await choice.locator('option').allTextContents()).toEqual(['alpha', 'beta'])
    expect(new URL(page.url()).search).toBe('?account=alpha')
    await page.waitForSelector('#positions tbody tr')
    await choice.selectOption('beta')
    await page.waitForURL(/account=beta/)
    await page.waitForSelector('#positions')
    expect(await choice.inputValue()).toBe('beta')
    expect(await page.title()).toContain('beta')
    await toPage(page, 'strategies')
    await page.waitForSelector('#strategies tbody >> text=mine')
    expect(await page.locator('#strategies tbody >> text=once').count()).toBe(0)

    // A backtest takes the file of the account that is shown, and its run is named after it.
    await toPage(page, 'results')
    await page.click(`#runs >> text=${runTexts.start}`)
    expect(await page.locator('dialog[open] select[name=strategy] option').allTextContents()).toEqual([
      'mine',
    ])
    await page.fill('dialog[open] input[name=from]', '2024-01-02')
    await page.selectOption('dialog[open] select[name=mode]', 'fast')
    await page.click(`dialog[open] >> text=${runTexts.send}`)
    await page.waitForSelector('#run-job >> text=is over', { timeout: 240_000 })
    await page.waitForSelector('#runs tbody tr:has(a) >> text=beta-mine-')

    await stopBy(page, 'halted')
    await page.waitForSelector('dialog[open] input[name=by]')
    await carriedOut(page)
    const stateOf = async (account: string) => {
      const answer = await ask(daemon, `/accounts/${account}/api/status`)
      return ((await answer.json()) as { readonly tradingState: string }).tradingState
    }
    await until('beta is halted', async () => ((await stateOf('beta')) === 'halted' ? true : undefined))
    expect(await stateOf('alpha')).toBe('active')
    await page.reload()
    await page.waitForSelector('.top >> text=HALTED')
    expect(await choice.inputValue()).toBe('beta')
    await choice.selectOption('alpha')
    await page.waitForURL(/account=alpha/)
    await toPage(page, 'trade')
    await page.waitForSelector('#positions tbody tr')
    expect(await page.locator('.top >> text=HALTED').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)
