/**
 * How perpd holds over a day: a real daemon and a real paper venue, each a process whose clock runs 60 times as fast, with faults
 * that change all the time and the console's stream (and, where there is a Chromium, its page) open. By hand:
 * `node bench/soak.ts [hours] [speed] [embedded]`; 24 hours at 60 take 24 minutes. `embedded`: one process, as `npm start` has it.
 *
 * The network is no faster than ever, so a host is given two real seconds for an answer (120 of the clock's, the most that may be set): with the
 * default of ten, a sixth of a real second, a busy machine would be the fault that is measured.
 *
 * Prints a line each simulated hour: resident memory of the daemon and of the venue, what of the daemon's lives in V8's heap, descriptors, log
 * lines of that hour by level, 99th percentile of the event loop's delay, orders, seconds of the oldest that is unresolved, the machine's
 * load. At the end: how the daemon's memory grew over the second half (least squares, MB an hour), the most frequent events, what was not
 * explained, and whether the stream lost anything.
 *
 * On a shared 2-core virtual machine, on 26 November 2026, at a load of 2 to 6, with 54 orders: 201 MB after the first hour, 229 in the middle, 233 at
 * the end (234 at most), 0.55 MB an hour over the second half; the venue 187 to 243; 42 to 60 descriptors, 11 to 92 info lines an hour and thirteen error
 * lines in all, the event loop late by 38 to 74 ms, 521 s of processor.
 * What lives in V8's heap was 71.6 MB in a snapshot of the sixth hour and 72.2 in one of the fourteenth: nine tenths of what came were compiled code.
 *
 * With a heap that grew by half of what lives before it was collected (it was so until then), and 127 orders: 216, 248 and 268 MB, 1.9 MB an hour.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'

const [hoursText = '24', speedText = '60', where = ''] = process.argv.slice(2)
const isEmbedded = where === 'embedded'
const hours = Number(hoursText)
const speed = Number(speedText)
const hourMs = 3_600_000 / speed
const root = resolve(import.meta.dirname, '..')
const main = join(root, 'src/cli/main.ts')
const clock = join(import.meta.dirname, 'fastClock.ts')
const startedMs = String(Date.now())
const say = (text: string) => process.stdout.write(`${text}\n`)
const children: ChildProcess[] = []

function start(cwd: string, args: readonly string[]) {
  const env = {
    ...process.env,
    MALLOC_ARENA_MAX: '2',
    PERPD_BENCH_CLOCK_SPEED: String(speed),
    PERPD_BENCH_CLOCK_START: startedMs,
    NODE_OPTIONS: `--import=${clock}`,
  }
  const child = spawn(
    process.execPath,
    ['--disable-sigusr1', '--max-semi-space-size=8', '--heap-growing-percent=25', main, ...args],
    { cwd, env },
  )
  children.push(child)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => process.stderr.write(part))
  const take = () => {
    const taken = text
    text = ''
    return taken
  }
  return { child, said: () => text, take }
}

async function until<T>(what: string, look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = look()
    if (found !== undefined) return found
    await wait(100)
  }
  throw new Error(`waited in vain for ${what}`)
}

/** One fault after the other, each for a while; the last of each turn is none. */
const faults: readonly object[] = [
  { latencyMs: 40 },
  { latencyMs: 0, down: ['api/0'] },
  { down: ['oracle/0'] },
  { down: [], submit: 'accept-and-never-answer', times: 2 },
  { prepare: 'unavailable', times: 3 },
  { status: 'not-found', times: 5 },
  { relay: 'never-lands' },
  { relay: 'none' },
  { down: ['rpc/0'] },
  { down: [], gasSpikePercent: 5000 },
  { gasSpikePercent: 100 },
  {},
]

const folder = mkdtempSync(join(tmpdir(), 'perpd-soak-'))
let page: Page | undefined
const lines = new Map<string, number>()
const events = new Map<string, number>()
let streamed = 0
let isOver = false
let gaps = 0
try {
  const cwd = join(folder, 'daemon')
  cpSync(join(root, 'strategies'), join(cwd, 'strategies'), { recursive: true })
  // All shipped instances run, each on its own market.
  for (const name of readdirSync(join(cwd, 'strategies')).filter((one) => one.endsWith('.yaml'))) {
    const path = join(cwd, 'strategies', name)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^enabled: false/m, 'enabled: true'))
  }
  const port = await freePort()
  const venue = isEmbedded ? undefined : await startVenue(join(folder, 'venue'), port)
  const waits = ['--api.timeoutMs=120000', '--rpc.timeoutMs=120000']
  const flags = ['run', '--control.port=0', '--log.format=json', ...waits]
  const host = `http://127.0.0.1:${port}`
  if (venue !== undefined) writeFileSync(join(cwd, 'perpd.json'), venue.printed, { mode: 0o600 })
  const daemon = start(
    cwd,
    venue === undefined ? [...flags, `--paper.port=${port}`] : [...flags, '--config', 'perpd.json'],
  )
  const url = await until('the daemon', () =>
    daemon.said().includes('"event":"daemon.ready"')
      ? /"status_url":"([^"]+)"/.exec(daemon.said())?.[1]
      : undefined,
  )
  const token = readFileSync(join(cwd, 'var', 'paper', 'control.token'), 'utf8').trim()
  const headers = { Authorization: `Bearer ${token}` }
  const base = new URL('/', url).href

  void followStream(base, headers)
  const browserPath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path))
  if (browserPath !== undefined) {
    const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
    page = await browser.newPage()
  }
  say('hour   RSS MB  venue MB  heap MB  fds  info  warn  error  loop p99 ms  orders  unresolved   load')
  const memory: { readonly hour: number; readonly mb: number }[] = []
  const begunMs = Date.now()
  for (let hour = 1; hour <= hours; hour += 1) {
    await enterConsole(base, headers)
    for (let part = 0; part < 12; part += 1) {
      const fault = faults[(hour * 7 + part) % faults.length] ?? {}
      const answer = await patientFetch(`${host}/__control/faults`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(fault),
      })
      if (!answer.ok) throw new Error(`the venue refuses ${JSON.stringify(fault)}: ${await answer.text()}`)
      // By the clock: what a busy machine takes longer for does not make the hour longer.
      await wait(Math.max(0, begunMs + ((hour - 1) * 12 + part + 1) * (hourMs / 12) - Date.now()))
    }
    const text = await (await patientFetch(new URL('/metrics', base))).text()
    const value = (name: string) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1])
    const sum = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'gm'))].reduce(
        (all, [, one]) => all + Number(one),
        0,
      )
    lines.clear()
    for (const line of daemon.take().split('\n')) {
      const [, level = ''] = /^\{"level":"(\w+)"/.exec(line) ?? []
      lines.set(level, (lines.get(level) ?? 0) + 1)
      const [, event] = /"event":"([^"]+)"/.exec(line) ?? []
      if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1)
    }
    const mb = value('process_resident_memory_bytes') / 1e6
    memory.push({ hour, mb })
    const cells = [
      String(hour).padStart(4),
      mb.toFixed(0).padStart(7),
      (venue === undefined ? '-' : residentMb(venue.pid).toFixed(0)).padStart(8),
      (value('nodejs_heap_size_used_bytes') / 1e6).toFixed(0).padStart(7),
      String(readdirSync(`/proc/${daemon.child.pid}/fd`).length).padStart(4),
      ...['info', 'warn', 'error'].map((level) => String(lines.get(level) ?? 0).padStart(5)),
      (value('nodejs_eventloop_lag_p99_seconds') * 1000).toFixed(1).padStart(10),
      sum('perpd_orders_total').toFixed(0).padStart(9),
      (value('perpd_order_oldest_unresolved_seconds') || 0).toFixed(0).padStart(8),
      (loadavg()[0] ?? 0).toFixed(1).padStart(7),
    ]
    say(cells.join('  '))
  }
  const half = memory.slice(Math.floor(memory.length / 2))
  const meanHour = half.reduce((all, one) => all + one.hour, 0) / half.length
  const meanMb = half.reduce((all, one) => all + one.mb, 0) / half.length
  const over = half.reduce((all, one) => all + (one.hour - meanHour) * (one.mb - meanMb), 0)
  const under = half.reduce((all, one) => all + (one.hour - meanHour) ** 2, 0)
  say(
    `memory over the second half: ${(over / under).toFixed(2)} MB an hour, ${meanMb.toFixed(0)} MB on average`,
  )
  say(`stream: ${streamed} events, ${gaps} gaps`)
  say(
    `most frequent events: ${[...events]
      .sort((one, other) => other[1] - one[1])
      .slice(0, 8)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
  )
  const [first, middle, last] = [0, Math.floor(memory.length / 2), memory.length - 1].map(
    (at) => memory[at]?.mb,
  )
  say(
    `resident after the first hour ${first?.toFixed(0)} MB, in the middle ${middle?.toFixed(0)}, at the end ${last?.toFixed(0)}`,
  )
  const status = await (await patientFetch(new URL('/api/status', base), { headers })).json()
  say(`at the end: ${JSON.stringify(status).slice(0, 600)}`)
} finally {
  isOver = true
  await page?.context().browser()?.close()
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

/** A port that nobody uses now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as { readonly port: number }
  await new Promise((closed) => server.close(closed))
  return port
}

/** Starts the paper venue in a process of its own; gives the configuration that it prints for a daemon. */
async function startVenue(cwd: string, port: number) {
  mkdirSync(cwd)
  const flags = ['--print-config', '--state', join(cwd, 'world.json'), `--paper.port=${port}`]
  const { child, said } = start(cwd, ['paper', ...flags])
  const printed = await until('the paper venue', () => {
    try {
      return JSON.stringify(JSON.parse(said()))
    } catch {
      return undefined
    }
  })
  return { printed, pid: child.pid ?? 0 }
}

function residentMb(pid: number): number {
  const [, kb = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kb) * 1_024) / 1e6
}

/** A machine that is short of time takes connections late: tried again for a minute. */
async function patientFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetch(url, init)
    } catch (error) {
      if (tries === 60) throw error
      await wait(1_000)
    }
  }
}

/** Reads the stream as a console does, over reconnections, and counts what it lost. */
async function followStream(base: string, headers: Record<string, string>): Promise<void> {
  let lastId = ''
  while (!isOver) {
    try {
      const resume = lastId === '' ? {} : { 'Last-Event-ID': lastId }
      const answer = await fetch(new URL('/api/stream?level=info', base), {
        headers: { ...headers, ...resume },
      })
      if (answer.body === null) return
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        for (const [, id = ''] of chunk.matchAll(/^id: ?(.+)$/gm)) {
          lastId = id
          streamed += 1
        }
        if (/^event: ?(?:reset|gap)/m.test(chunk)) gaps += 1
      }
    } catch {
      // The daemon is gone, or dropped a slow reader: it is tried again.
    }
    await wait(200)
  }
}

/** A session of the page lives half a simulated day at most: it is begun anew each hour, as by somebody who looks in. */
async function enterConsole(base: string, headers: Record<string, string>): Promise<void> {
  if (page === undefined) return
  const answer = await patientFetch(new URL('/api/console/link', base), {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: '{}',
  })
  const link = /http[^"]+/.exec(await answer.text())?.[0]
  if (link === undefined) return
  try {
    await page.goto(link)
  } catch (error) {
    say(`the page did not load: ${String(error).split('\n')[0]}`)
  }
}
