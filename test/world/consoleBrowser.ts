/** A browser before the console of a real daemon: what tests of the page begin with, and the script that draws its pictures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { addressOf, type PageId } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { machineProgram } from '../support/machineProgram.ts'
import { perpd, type Running, until } from './processes.ts'

/** A browser of the machine; undefined: without one these tests are left out. */
export const browserPath = machineProgram(['chromium', 'chromium-browser', 'google-chrome'], 'chromium')

/** Starts it. */
export function launchBrowser(...flags: readonly string[]): Promise<Browser> {
  if (browserPath === undefined) throw new Error('This needs a Chromium on this machine.')
  return chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', ...flags] })
}

/** Where a console is, and who may use it. */
export interface ConsolePlace {
  /** Its address, with a slash at its end. */
  readonly console: string
  /** Folder with its tokens. */
  readonly tokens: string
}

/** A daemon whose console is served. */
export interface Served extends Running, ConsolePlace {}

/** Starts a daemon on the paper venue inside it, with its state in `folder` and any free port, and waits until it trades. */
export async function servedIn(folder: string, flags: readonly string[]): Promise<Served> {
  const daemon = perpd(['run', '--log.format=pretty', '--control.port=0', ...flags], { cwd: folder })
  return { ...daemon, console: await consoleOf(daemon), tokens: join(folder, 'var', 'paper') }
}

/** Waits until a daemon trades, or says what holds it back. Gives where its console is, with a slash at its end. */
export async function consoleOf(daemon: Running): Promise<string> {
  const isReady = () =>
    /ready: strategies are running|ready, but trading is|"event":"daemon.ready"/.test(daemon.said()) ||
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

type Role = 'read' | 'operate'

/** A page of somebody who is logged in. */
export interface LoggedIn {
  readonly page: Page
  /** What its policy complained of, faults of its scripts, and every error on its console, from the first byte on. */
  readonly complaints: readonly string[]
}

/** Opens the page and logs in with the token of this role; in the browser's cookies of a context where one is given. */
export async function loggedIn(
  browser: Pick<Browser, 'newPage'>,
  place: ConsolePlace,
  role: Role,
): Promise<LoggedIn> {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } })
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy') || message.type() === 'error')
      complaints.push(message.text())
  })
  await page.goto(place.console)
  await logIn(page, place, role)
  await page.waitForSelector('#positions')
  return { page, complaints }
}

/** Sends the form of the log-in with the token of this role. */
export async function logIn(page: Page, place: ConsolePlace, role: Role): Promise<void> {
  await page.fill('input[name=token]', tokenOf(place, role))
  await page.click('button.primary')
}

/** Opens a page of the console by its link, which a phone has behind More for some. */
export async function toPage(page: Page, id: PageId): Promise<void> {
  const link = page.locator(`.pages a[href="${addressOf({ page: id })}"]:visible`)
  if ((await link.count()) === 0) await page.click('button[popovertarget=more-menu]')
  await link.click()
  await page.waitForSelector(`.pages a[href="${addressOf({ page: id })}"][aria-current]`, {
    state: 'attached',
  })
}

/** Presses a button that stops trading; it stands in a menu. */
export async function stopBy(
  page: Page,
  button: Exclude<keyof typeof texts.actions, 'menu' | 'stop' | 'active'>,
): Promise<void> {
  await page.click('button[popovertarget=stop-menu]')
  await page.click(`#stop-menu >> text="${texts.actions[button]}"`)
}

/** Presses the button that resumes trading. */
export async function resume(page: Page): Promise<void> {
  await page.click(`.actions > button >> text="${texts.actions.active}"`)
}

/** Asks the daemon beside the page, with the operator's token: reads, or commands where there is a body. */
export function ask(place: ConsolePlace, path: string, body?: unknown): Promise<Response> {
  const authorization = `Bearer ${tokenOf(place, 'operate')}`
  return fetch(
    new URL(path, place.console),
    body === undefined
      ? { headers: { authorization } }
      : {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        },
  )
}

function tokenOf({ tokens }: ConsolePlace, role: Role): string {
  return readFileSync(join(tokens, role === 'read' ? 'control.token.read' : 'control.token'), 'utf8').trim()
}

/** Presses the button of the dialog that is open, and waits until it is answered with this. */
export async function sent(page: Page, answer: string): Promise<void> {
  await page.fill('dialog[open] input[name=by]', 'ann')
  await page.click('dialog[open] .tools button:not([type=button])')
  await page.waitForSelector(`dialog[open] .outcome >> text=${answer}`)
}

/** Sends, waits until it was carried out, and closes the dialog. */
export async function carriedOut(page: Page): Promise<void> {
  await sent(page, texts.dialog.carriedOut)
  await page.keyboard.press('Escape')
}

/** Types the word that the dialog asks for before it is carried out. */
export async function sentTyped(page: Page, word: string): Promise<void> {
  await page.fill('dialog[open] input[name=typed]', word)
  await carriedOut(page)
}

/** Two days of minutes from 1 January 2024 on that rise and fall, as a file that `perpd data import` takes: the history of backtests. */
export function minutesCsv(): string {
  const price = (at: number): number => 2000 + Math.round(10_000 * Math.sin(at / 200)) / 100
  const rows = Array.from({ length: 2_880 }, (_unused, at) => {
    const [open, close] = [price(at), price(at + 1)]
    return [
      1_704_067_200 + at * 60,
      open,
      Math.max(open, close) + 0.5,
      Math.min(open, close) - 0.5,
      close,
    ].join(',')
  })
  return `timestamp,open,high,low,close\n${rows.join('\n')}\n`
}
