/** A browser before the console of a real daemon: what tests of the page begin with, and the script that draws its pictures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { machineProgram } from '../support/machineProgram.ts'
import { perpd, type Running, until } from './processes.ts'

/** A browser of the machine; undefined: without one these tests are left out. */
export const browserPath = machineProgram(['chromium', 'chromium-browser', 'google-chrome'], 'chromium')

/** A daemon whose console is served. */
export interface Served extends Running {
  /** Where the console is, with a slash at its end. */
  readonly console: string
  /** Folder with its tokens. */
  readonly tokens: string
}

/** Starts a daemon on the paper venue inside it, with its state in `folder`, and waits until it trades. */
export async function servedIn(folder: string, flags: readonly string[]): Promise<Served> {
  const daemon = perpd(['run', '--log.format=pretty', ...flags], { cwd: folder })
  return { ...daemon, console: await consoleOf(daemon), tokens: join(folder, 'var', 'paper') }
}

/** Waits until a daemon trades, or says what holds it back. Gives where its console is, with a slash at its end. */
export async function consoleOf(daemon: Running): Promise<string> {
  const isReady = () =>
    /ready: strategies are running|ready, and trading is|"event":"daemon.ready"/.test(daemon.said()) ||
    undefined
  await until('it is ready', isReady, { seen: daemon.said })
  const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(
    daemon
      .said()
      .split('\n')
      .filter((each) => each.includes('/console/') || each.includes('metrics'))
      .join('\n'),
  ) ?? ['']
  return `${address}/console/`
}

/** A page of somebody who is logged in. */
export interface LoggedIn {
  readonly page: Page
  /** What its policy complained of, faults of its scripts, and every error on its console, from the first byte on. */
  readonly complaints: readonly string[]
}

/** Opens the page and logs in with the token of this role; in the browser's cookies of a context where one is given. */
export async function loggedIn(
  browser: Pick<Browser, 'newPage'>,
  { console: address, tokens }: Pick<Served, 'console' | 'tokens'>,
  role: 'read' | 'operate',
): Promise<LoggedIn> {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } })
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy') || message.type() === 'error')
      complaints.push(message.text())
  })
  await page.goto(address)
  const file = join(tokens, role === 'read' ? 'control.token.read' : 'control.token')
  await page.fill('input[name=token]', readFileSync(file, 'utf8').trim())
  await page.click('button.primary')
  await page.waitForSelector('#positions')
  return { page, complaints }
}

/** Presses the button of the dialog that is open, and waits until it is answered with this. */
export async function sent(page: Page, answer: string): Promise<void> {
  await page.fill('dialog[open] input[name=by]', 'ann')
  await page.click('dialog[open] .tools button:not([type=button])')
  await page.waitForSelector(`dialog[open] .outcome >> text=${answer}`)
}

/** Types the word that the dialog asks for, sends, and waits until it was carried out. */
export async function sentTyped(page: Page, word: string): Promise<void> {
  await page.fill('dialog[open] input[name=typed]', word)
  await sent(page, 'Carried out')
  await page.keyboard.press('Escape')
}
