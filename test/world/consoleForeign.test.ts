/** Pages of other origins and of a name that was rebound, in a real browser with an open session of the real daemon: nothing of the account, and no command. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect } from 'vitest'
import { texts } from '../../src/control/console/page/texts.ts'
import { ask, loggedIn, type Served, sent, servedIn, stopBy } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { until } from './processes.ts'

let attacker: Server
/** Cookies that browsers sent to the attacker's port. */
let taken: string[]
beforeEach(async () => {
  taken = []
  attacker = createServer(({ headers }, answer) => {
    if (headers.cookie !== undefined) taken.push(headers.cookie)
    answer.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>another page</title>')
  })
  await new Promise<void>((listening) => attacker.listen(0, '127.0.0.1', listening))
})
afterEach(() => {
  attacker.close()
})
// Names of somebody else: of another page, and one that is pointed at this machine after it was loaded.
const here = pageTests('--host-resolver-rules=MAP *.attacker.test 127.0.0.1')

interface Tried {
  /** Of an answer that the page could read its status; else that it could not. */
  readonly read: string
  readonly said: string
}

/** Runs a script in the page, over these values. */
async function inPage<T>(page: Page, script: string, ...values: readonly unknown[]): Promise<T> {
  return await page.evaluate<T>(`(${script})(${values.map((each) => JSON.stringify(each)).join(', ')})`)
}

/** What a page of somebody else tries with scripts, each with the browser's cookies. */
const fetched = `async (address, options) => {
  try {
    const answer = await fetch(address, { ...options, credentials: 'include' })
    return { read: String(answer.status), said: await answer.text() }
  } catch (error) {
    return { read: 'nothing', said: String(error) }
  }
}`

/** A stream of the account's events: \`open\`, or \`refused\`. */
const streamed = `(address) => new Promise((done) => {
  const stream = new EventSource(address, { withCredentials: true })
  stream.onopen = () => done('open')
  stream.onerror = () => {
    stream.close()
    done('refused')
  }
})`

/** A form is sent into a frame: no script of the other side has to allow it. */
const formed = `(address, name, value) => {
  const frame = document.createElement('iframe')
  frame.name = 'into-' + document.querySelectorAll('iframe').length
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: address, target: frame.name, enctype: 'text/plain' })
  const input = document.createElement('input')
  Object.assign(input, { name, value })
  form.append(input)
  document.body.append(frame, form)
  form.submit()
}`

const framing = `(address) => {
  const frame = document.createElement('iframe')
  frame.src = address
  document.body.append(frame)
}`

/**
 * The status of what the daemon answers to this address while the page acts. An answer to a frame that moves to another process of
 * the browser can come before the tool listens there, so the page acts again until one answer is seen.
 */
async function answered(page: Page, address: string, act: () => Promise<unknown>): Promise<number> {
  return await until(`an answer to a frame from ${address}`, async () => {
    const response = page
      .waitForResponse((each) => each.url() === address && each.request().isNavigationRequest(), {
        timeout: 5_000,
      })
      .catch(() => undefined)
    await act()
    return (await response)?.status()
  })
}

/** Every way to command, to look, and to show the console in a frame, from one page. */
async function attack(page: Page, daemon: string, isRebound: boolean): Promise<void> {
  const at = (path: string): string => new URL(path, daemon).href
  const json = { 'content-type': 'application/json' }
  const halt = JSON.stringify({ state: 'halted', scope: 'global', by: 'mallory' })
  const ways = [
    ['/api/trading', { method: 'POST', headers: json, body: halt }],
    ['/api/trading', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: halt }],
    ['/api/trading', { method: 'POST', mode: 'no-cors', body: halt }],
    ['/api/trading', { method: 'POST', headers: { ...json, 'x-perpd-page-key': 'guessed' }, body: halt }],
    ['/api/kill', { method: 'POST', headers: json, body: '{"close":true,"by":"mallory"}' }],
    ['/api/status', { method: 'GET' }],
    ['/api/stream', { method: 'GET' }],
    ['/console/session', { method: 'GET' }],
    ['/console/', { method: 'GET' }],
  ] as const
  for (const [path, init] of ways) {
    const { read, said } = await inPage<Tried>(page, fetched, at(path), init)
    // A page whose name leads to the port may read the refusal; any other may read nothing at all.
    expect([path, read]).toEqual([path, isRebound ? '421' : expect.stringMatching(/^(nothing|0)$/)])
    expect(said).not.toMatch(/pageKey|"role":"|equity|USDC/)
  }
  expect(await inPage(page, streamed, at('/api/stream'))).toBe('refused')
  const refusal = isRebound ? 421 : 403
  for (const [path, name] of [
    ['/api/trading', '{"state":"halted","scope":"global","by":"mallory'],
    ['/api/kill', '{"close":true,"by":"mallory'],
  ] as const)
    expect(await answered(page, at(path), () => inPage(page, formed, at(path), name, '"}'))).toBe(refusal)
  expect(await answered(page, at('/console/'), () => inPage(page, framing, at('/console/')))).toBe(refusal)
}

/** A page of another port asks the console's tabs for their half of the session, and looks where they keep it. */
const asked = `() => new Promise((done) => {
  const channel = new BroadcastChannel('perpd session')
  channel.onmessage = ({ data }) => done(data)
  channel.postMessage({ type: 'ask' })
  setTimeout(() => done({ stored: Object.entries(sessionStorage) }), 1_000)
})`

/** The session's halves that the attacker has, sent by a program of its own: no browser, no origin. */
async function replayed(daemon: string, cookie: string, halves: Readonly<Record<string, string>> = {}) {
  const headers = { cookie, 'content-type': 'application/json', origin: daemon, ...halves }
  const halt = JSON.stringify({ state: 'halted', scope: 'global', by: 'mallory' })
  const reads = ['/api/status', '/api/console/sessions', '/api/stream', '/console/session']
  const answers = await Promise.all([
    ...reads.map((path) => fetch(new URL(path, daemon), { headers })),
    fetch(new URL('/api/trading', daemon), { method: 'POST', headers, body: halt }),
    fetch(new URL('/console/session', daemon), { method: 'DELETE', headers }),
  ])
  const statuses = answers.map(({ status }) => status)
  return { statuses, session: await answers[3]?.json() }
}

/** Whether it trades, as the daemon says it. */
async function standing(daemon: Served) {
  const answer = await ask(daemon, '/api/status')
  const { tradingState, halts, kill } = (await answer.json()) as Readonly<Record<string, unknown>>
  return { tradingState, halts, kill }
}

/** All that the journal holds, as it lies on the disk. */
function journaled(): string {
  const state = join(here.folder, 'var', 'paper')
  const files = readdirSync(state).filter((name) => name.startsWith('journal'))
  return files.map((name) => readFileSync(join(state, name), 'latin1')).join('\n')
}

pageTest(
  'pages of another port, of another name and of a rebound one are refused whatever they try beside an open session, and nothing is journaled',
  { timeout: 240_000 },
  async () => {
    const file = join(here.folder, 'own.yaml')
    writeFileSync(
      file,
      'kind: trend\nenabled: false\nmarket: ETH/USD [WETH-USDC]\nsize: { usd: 500, leverage: 2, collateral: short }\n',
    )
    const daemon = await servedIn(here.folder, [`--strategies.paths=${file}`])
    const context = await here.browser.newContext()
    const { page: own, complaints } = await loggedIn(context, daemon, 'operate')
    await own.waitForSelector('.top >> text=live')
    const before = await standing(daemon)
    const { port } = attacker.address() as AddressInfo
    const console = new URL(daemon.console)
    const page = await context.newPage()
    const rebound = `http://rebound.attacker.test:${console.port}`

    // Another port of this machine gets the cookie sent along, as cookies do not tell ports apart; another name does not.
    for (const origin of [`http://127.0.0.1:${port}`, `http://page.attacker.test:${port}`]) {
      await page.goto(origin)
      await attack(page, console.origin, false)
    }
    // That port has the cookie, which alone gives nothing, and a half that is guessed neither; where the other half is it cannot look.
    const [cookie = ''] = taken
    expect(cookie).toMatch(/^perpd_session_\d+=[\w-]{43}$/)
    const nothing = { statuses: [401, 401, 401, 200, 401, 401], session: { role: null } }
    expect(await replayed(console.origin, cookie)).toEqual(nothing)
    expect(await replayed(console.origin, cookie, { 'x-perpd-page-key': 'x'.repeat(43) })).toEqual(nothing)
    await page.goto(`http://127.0.0.1:${port}`)
    expect(await inPage(page, asked)).toEqual({ stored: [] })
    // A second tab of the console itself has it from the first.
    const tab = await context.newPage()
    await tab.goto(daemon.console)
    await tab.waitForSelector('.top >> text=live')
    await tab.close()

    // A name of theirs that leads to the daemon's own port: the browser takes it for one origin.
    await page.goto(`${rebound}/console/`).catch(() => undefined)
    expect(await page.locator('body').innerText()).toContain('HOST_NOT_ALLOWED')
    await attack(page, rebound, true)

    expect(await standing(daemon)).toEqual(before)
    // The session of before goes on.
    await own.reload()
    await own.waitForSelector('.top >> text=ACTIVE')
    await stopBy(own, 'halted')
    await own.fill('dialog[open] input[name=reason]', 'the owner says so')
    await sent(own, texts.dialog.carriedOut)
    await own.waitForSelector('.top >> text=HALTED')
    expect(journaled()).toContain('the owner says so')
    expect(journaled()).not.toContain('mallory')
    expect(complaints).toEqual([])
  },
)
