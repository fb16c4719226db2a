/** The console's page in a real browser over the real daemon: what is seen, what may be done, and what is left when it ends. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { machineProgram } from '../support/machineProgram.ts'
import { killLeftOver, perpd, type Running, scratch, until } from './processes.ts'

/** A browser of the machine; without one these tests are left out. */
const executablePath = machineProgram(['chromium', 'chromium-browser', 'google-chrome'], 'chromium')
const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const options = { timeout: 180_000 }

let folder: ReturnType<typeof scratch>
let browser: Browser
beforeEach(async () => {
  folder = scratch()
  if (executablePath !== undefined)
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
})
afterEach(async () => {
  await browser?.close()
  await killLeftOver()
  folder.remove()
})

/** A daemon that trades, and where its console is. */
async function trading(port = '0'): Promise<Running & { readonly console: string }> {
  const argv = ['run', `--control.port=${port}`, `--strategies.paths=${strategies}`, '--log.format=pretty']
  const daemon = perpd(argv, { cwd: folder.path })
  await until('it is ready', () => daemon.said().includes('ready: strategies are running') || undefined, {
    seen: daemon.said,
  })
  const [address = ''] = /http:\/\/127\.0\.0\.1:\d+\/console\//.exec(daemon.said()) ?? []
  return { ...daemon, console: address }
}

/** The page after a log-in with the token of this role, and whatever its scripts and its policy complained of. */
async function loggedIn(
  address: string,
  role: 'read' | 'operate',
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } })
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text())
  })
  await page.goto(address)
  const file = join(folder.path, 'var', 'paper', role === 'read' ? 'control.token.read' : 'control.token')
  await page.fill('input[name=token]', readFileSync(file, 'utf8').trim())
  await page.click('button.primary')
  await page.waitForSelector('#positions')
  return { page, complaints }
}

/** Sends the command whose dialog is open, and waits until it is answered with this. */
async function sent(page: Page, answer: string): Promise<void> {
  await page.fill('dialog[open] input[name=by]', 'ann')
  await page.click('dialog[open] .tools button:not([type=button])')
  await page.waitForSelector(`dialog[open] .outcome >> text=${answer}`)
}

test.runIf(executablePath !== undefined)(
  'whoever may read sees the account as it changes, has nothing to command with, and leaves nothing behind',
  options,
  async () => {
    const daemon = await trading()
    const { page, complaints } = await loggedIn(daemon.console, 'read')
    await page.waitForSelector('.tiles >> text=live')
    // The trend of the paper venue opens within seconds of the start.
    await page.waitForSelector('#positions tbody tr >> text=NO STOP')
    await page.waitForSelector('#log li >> text=filled at')
    await page.click('#orders tbody button')
    await page.waitForSelector('dialog[open] .timeline >> text=Verified and signed')
    await page.keyboard.press('Escape')
    expect(await page.locator('.actions, #positions button, #strategies button, #tasks button').count()).toBe(
      0,
    )
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await page.click('text=Log out')
    await page.waitForSelector('input[name=token]')
    expect(await page.locator('table, .tiles').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)

test.runIf(executablePath !== undefined)(
  'an operator closes everything by typed words alone, follows it to its end, and lets trading go on by typed words',
  options,
  async () => {
    const daemon = await trading()
    const { page, complaints } = await loggedIn(daemon.console, 'operate')
    await page.waitForSelector('#positions tbody tr')
    await page.click('.actions >> text=Kill and close…')
    await page.fill('dialog[open] input[name=typed]', 'close')
    expect(await page.isDisabled('dialog[open] .tools button:not([type=button])')).toBe(true)
    await page.fill('dialog[open] input[name=typed]', 'close everything')
    await sent(page, 'positions closed')
    await page.keyboard.press('Escape')
    await page.waitForSelector('.tiles >> text=HALTED')
    await page.waitForSelector('#positions >> text=No position is held.')
    await page.click('.actions >> text=Active…')
    await page.fill('dialog[open] input[name=typed]', 'active')
    await sent(page, 'trading is active')
    await page.keyboard.press('Escape')
    await page.waitForSelector('.tiles >> text=ACTIVE')
    expect(complaints).toEqual([])
  },
)

test.runIf(executablePath !== undefined)(
  'a refusal is shown with its code, and a command with a preview is sent only after it was seen',
  options,
  async () => {
    const daemon = await trading()
    const { page } = await loggedIn(daemon.console, 'operate')
    await page.click('#tasks >> text=Start a twap…')
    await page.fill('dialog[open] input[name=market]', 'NOPE/USD')
    await page.fill('dialog[open] input[name=size]', '400')
    await sent(page, 'Refused: MARKET_UNKNOWN')
    await page.fill('dialog[open] input[name=market]', 'ETH/USD [WETH-USDC]')
    await sent(page, 'Now it would do this')
    expect(await page.locator('#tasks .rows li').count()).toBe(0)
    await sent(page, 'Carried out')
    await page.keyboard.press('Escape')
    await page.waitForSelector('#tasks .rows li >> text=running')
  },
)

test.runIf(executablePath !== undefined)(
  'a page whose daemon is gone says so, and asks for a log-in of the one that comes after it',
  options,
  async () => {
    const daemon = await trading()
    const { page } = await loggedIn(daemon.console, 'read')
    await page.waitForSelector('.tiles >> text=live')
    daemon.child.kill('SIGKILL')
    await daemon.ended
    await page.waitForSelector('.tiles >> text=no connection')
    await trading(new URL(daemon.console).port)
    await page.waitForSelector('input[name=token]')
  },
)
