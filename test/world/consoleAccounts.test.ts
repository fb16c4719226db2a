/** The console of a daemon with several accounts: one is chosen in the head, the address keeps it, and commands are for it alone. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { texts } from '../../src/control/console/page/texts.ts'
import { loggedIn, servedIn } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { until, writeOnceStrategy } from './processes.ts'

const here = pageTests()

pageTest(
  'an account is chosen in the head and kept in the address, and each has its own page',
  { timeout: 240_000 },
  async () => {
    writeOnceStrategy(here.folder)
    const settings = {
      strategies: { paths: [join(here.folder, 'once.yaml')] },
      accounts: { alpha: {}, beta: { strategies: { paths: [] } } },
    }
    writeFileSync(join(here.folder, 'perpd.json'), JSON.stringify(settings))
    const daemon = await servedIn(here.folder, [])
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
    expect(await page.locator('#positions tbody tr').count()).toBe(0)
    // A command of this page is for the account that it shows.
    await page.getByRole('button', { name: texts.actions.stop }).click()
    await page.getByRole('button', { name: texts.actions.halted, exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Halt trading' }).click()
    const token = readFileSync(join(daemon.tokens, 'control.token'), 'utf8').trim()
    const stateOf = async (account: string) => {
      const address = `${new URL(daemon.console).origin}/accounts/${account}/api/status`
      const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
      return ((await answer.json()) as { readonly tradingState: string }).tradingState
    }
    await until('beta is halted', async () => ((await stateOf('beta')) === 'halted' ? true : undefined))
    expect(await stateOf('alpha')).toBe('active')
    await page.reload()
    await page.waitForSelector('#positions')
    expect(await choice.inputValue()).toBe('beta')
    expect(complaints).toEqual([])
  },
)
