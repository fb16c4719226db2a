/**
 * What sinks that hang cost the loop: a real daemon on the paper venue, each a process of its own, in turns without any sink and with a
 * webhook, an ntfy and a mail server that take a connection and never answer. By hand:
 * `node bench/hangingSinks.ts [seconds] [rounds]`.
 *
 * Prints for each run, while the daemon starts and over the seconds after that: the longest delay of the event loop, which on a busy machine is
 * mostly the machine's, and the longest that the main thread worked without a pause by the processor's account (longTurns.ts), which is not;
 * how often the sinks were asked; the load.
 *
 * On a shared 2-core virtual machine at a load of 14 to 52, in November 2026, after the start: without sinks the loop was late by 94 to 220 ms
 * at most and the thread worked for up to 30 ms without a pause, with three that hang by 157 to 1,025 ms and for up to 38 ms. What came to
 * those 38 ms is reads of the account and its markets: by a profile of the processor, 15 s with three that hang have 10 ms in the code that tells
 * people, 3.3 ms of it in one piece, and the rest of the delay is a turn of 30 ms that waits for a processor. On an idle one (load 0.5 to 1.1) the
 * loop was late by 24 ms at most without sinks and by 31 ms with three that hang.
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
import { createServer, type Socket } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const [secondsText = '40', roundsText = '3'] = process.argv.slice(2)
const root = resolve(import.meta.dirname, '..')
const main = join(root, 'src/cli/main.ts')
const longTurns = join(import.meta.dirname, 'longTurns.ts')
const say = (text: string) => process.stdout.write(`${text}\n`)
/** What a start still does after it says that it is ready. */
const startMs = 10_000
const children: ChildProcess[] = []

function start(cwd: string, args: readonly string[], turns?: string) {
  const env =
    turns === undefined
      ? process.env
      : { ...process.env, PERPD_BENCH_TURNS: turns, NODE_OPTIONS: `--import=${longTurns}` }
  const flags = ['--disable-sigusr1', '--max-semi-space-size=8', '--heap-growing-percent=25']
  const child = spawn(process.execPath, [...flags, main, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  return { child, said: () => text }
}

async function until<T>(what: string, look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = look()
    if (found !== undefined) return found
    await wait(100)
  }
  throw new Error(`waited in vain for ${what}`)
}

const folder = mkdtempSync(join(tmpdir(), 'perpd-sinks-'))
const sockets = new Set<Socket>()
let asked = 0
const silent = createServer((socket) => {
  asked += 1
  sockets.add(socket)
  // Read and thrown away: a request that nobody takes would wait in the kernel, and is no different.
  socket.resume().on('error', () => undefined)
  socket.on('close', () => sockets.delete(socket))
}).listen(0, '127.0.0.1')

try {
  await new Promise((listening) => silent.once('listening', listening))
  const { port } = silent.address() as { readonly port: number }
  const venueFolder = join(folder, 'venue')
  mkdirSync(venueFolder)
  const venue = start(venueFolder, ['paper', '--print-config', '--state', join(venueFolder, 'world.json')])
  const printed = await until('the paper venue', () => {
    try {
      return JSON.parse(venue.said()) as object
    } catch {
      return undefined
    }
  })
  const secret = join(folder, 'secret')
  writeFileSync(secret, 's'.repeat(40), { mode: 0o600 })
  const sinks = [
    { type: 'webhook', name: 'hook', url: `http://127.0.0.1:${port}/hook`, secretFile: secret },
    { type: 'ntfy', name: 'ntfy', url: `http://127.0.0.1:${port}`, topicFile: secret },
    {
      ...{ type: 'email', name: 'mail', host: '127.0.0.1', port, security: 'none' },
      ...{ from: 'perpd@example.org', to: ['you@example.org'] },
    },
  ]
  say('sinks   start: delay ms   worked ms   after: delay ms   worked ms   asked   load')
  for (let round = 0; round < 2 * Number(roundsText); round += 1) {
    const isHanging = round % 2 === 1
    const cwd = join(folder, `daemon-${round}`)
    cpSync(join(root, 'strategies'), join(cwd, 'strategies'), { recursive: true })
    for (const name of readdirSync(join(cwd, 'strategies')).filter((one) => one.endsWith('.yaml'))) {
      const path = join(cwd, 'strategies', name)
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^enabled: false/m, 'enabled: true'))
    }
    const written = isHanging ? { ...printed, notify: { sinks } } : printed
    writeFileSync(join(cwd, 'perpd.json'), JSON.stringify(written), { mode: 0o600 })
    asked = 0
    const turns = join(cwd, 'turns.txt')
    const flags = ['--control.port=0', '--log.format=json', '--config', 'perpd.json']
    const daemon = start(cwd, ['run', ...flags], turns)
    const url = await until('the daemon', () =>
      daemon.said().includes('"event":"daemon.ready"')
        ? /"status_url":"([^"]+)"/.exec(daemon.said())?.[1]
        : undefined,
    )
    const longest = (fromMs: number) => {
      const rows = existsSync(turns) ? readFileSync(turns, 'utf8').trim().split('\n') : []
      const worked = rows.map((row) => row.split(' ').map(Number))
      return Math.max(0, ...worked.filter(([atMs = 0]) => atMs >= fromMs).map(([, cpuMs = 0]) => cpuMs))
    }
    // Each reading begins the histogram anew.
    const delayMs = async () => {
      const text = await (await fetch(new URL('/metrics', url))).text()
      return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1_000
    }
    await wait(startMs)
    const begun = { delay: await delayMs(), worked: longest(0) }
    const afterMs = Date.now()
    await wait(Number(secondsText) * 1_000)
    const after = { delay: await delayMs(), worked: longest(afterMs) }
    const cells = [
      (isHanging ? '3' : '0').padStart(5),
      begun.delay.toFixed(0).padStart(16),
      begun.worked.toFixed(0).padStart(10),
      after.delay.toFixed(0).padStart(16),
      after.worked.toFixed(0).padStart(10),
      String(asked).padStart(6),
      (loadavg()[0] ?? 0).toFixed(1).padStart(5),
    ]
    say(cells.join('  '))
    const exited = new Promise((gone) => daemon.child.once('exit', gone))
    daemon.child.kill('SIGTERM')
    await exited
  }
} finally {
  for (const child of children) child.kill('SIGKILL')
  for (const socket of sockets) socket.destroy()
  silent.close()
  rmSync(folder, { recursive: true, force: true })
}
