/** The real processes of the world tests: the paper venue and the daemon, as a user starts them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Label, labelOf } from '../../src/domain/order/intent.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'

const main = resolve(import.meta.dirname, '..', 'support', 'guardedMain.ts')
const killAt = join(import.meta.dirname, 'killAt.ts')

/** A child process and everything it said. */
export interface Running {
  readonly child: ChildProcess
  /** Standard output and error so far. */
  readonly said: () => string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Addresses a paper venue serves, one chain. */
export interface PaperHosts {
  readonly api: readonly string[]
  readonly oracle: readonly string[]
  /** JSON-RPC over HTTP. */
  readonly rpc: readonly string[]
}

/** Markets of the shipped strategies and of those of tests. */
export const lightMarkets: readonly string[] = [
  'ETH/USD [WETH-USDC]',
  'ETH/USD [WETH-WETH]',
  'BTC/USD [BTC-USDC]',
  'SOL/USD [SOL-USDC]',
  'LINK/USD [LINK-USDC]',
  'LTC/USD [WETH-USDC]',
  'kPEPE/USD [WETH-USDC]',
  'GOLD/USD [WETH-USDC]',
]

/** Environment of a command whose paper venue has these markets alone; all where none is named. */
export const venueOf = (markets: readonly string[]): Record<string, string> => ({
  PERPD__PAPER__ONLYMARKETS: markets.join(','),
})

const alive = new Set<Running>()

let empty: string | undefined

/** Where a command runs that no folder is named for: a folder of this run, without settings and state of a user. */
function emptyFolder(): string {
  if (empty !== undefined) return empty
  const made = mkdtempSync(join(tmpdir(), 'perpd-nowhere-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  empty = made
  return made
}

/** Kills what this file's tests started and left behind when one of them failed; for `afterEach` of tests that run one by one. */
export async function killLeftOver(): Promise<void> {
  for (const { child, ended } of alive) {
    child.kill('SIGKILL')
    await ended
  }
}

/**
 * Starts `perpd ARGS`. Its paper venue has few markets, since most of what a look costs is the lists of markets, unless the environment says otherwise
 * (`venueOf`) or it is the program of somebody else.
 */
export function perpd(
  args: readonly string[],
  options: {
    readonly killAt?: string
    readonly cwd?: string
    readonly env?: Record<string, string>
    /** Largest file it may write, KiB: writes beyond fail as on a full disk. */
    readonly fileLimitKiB?: number
    /** Words before the command: another user, another limit. */
    readonly by?: readonly string[]
    /** What is run instead of this checkout's source: the command of an installed package. */
    readonly program?: string
  } = {},
): Running {
  const preload = options.killAt === undefined ? [] : ['--import', killAt]
  const command = [...(options.by ?? []), process.execPath, ...preload, options.program ?? main, ...args]
  const limited =
    options.fileLimitKiB === undefined
      ? command
      : ['bash', '-c', `ulimit -f ${options.fileLimitKiB}; exec "$0" "$@"`, ...command]
  const child = spawn(limited[0] ?? '', limited.slice(1), {
    cwd: options.cwd ?? emptyFolder(),
    env: {
      ...(options.program === undefined ? venueOf(lightMarkets) : {}),
      ...process.env,
      ...options.env,
      KILL_AT: options.killAt ?? '',
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  let all = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    all += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    all += text
  })
  const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals)
  const running: Running = { child, said: () => all, stdout: () => stdout, stderr: () => stderr, ended }
  alive.add(running)
  ended.finally(() => alive.delete(running))
  return running
}

/**
 * Waits until `look` gives something; fails with what was seen after `timeoutMs`. A look that takes long, for it starts a process, is
 * repeated more seldom: looking shall not take the core that what is waited for needs.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  options: { readonly timeoutMs?: number; readonly seen?: () => string } = {},
): Promise<T> {
  const end = performance.now() + (options.timeoutMs ?? 180_000)
  for (;;) {
    const lookedMs = performance.now()
    const found = await look()
    if (found !== undefined) return found
    const nowMs = performance.now()
    if (nowMs > end) throw new Error(`waited in vain: ${what}\n${options.seen?.() ?? ''}`)
    const waitMs = Math.min(Math.max(2 * (nowMs - lookedMs), 25), 1_500)
    await new Promise((resolveSoon) => setTimeout(resolveSoon, waitMs))
  }
}

/** A folder of its own, gone when the test ends. */
export function scratch(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'perpd-world-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Starts a paper venue on free ports and reads its addresses. */
export async function startPaper(
  args: readonly string[] = [],
  options: { readonly program?: string; readonly env?: Record<string, string> } = {},
): Promise<Running & { readonly hosts: PaperHosts; readonly control: string }> {
  const folder = scratch()
  const running = perpd(
    ['paper', '--print-hosts', `--paper.stateFile=${join(folder.path, 'world.json')}`, ...args],
    options,
  )
  void running.ended.finally(folder.remove)
  const printed = await until(
    'the paper venue prints its addresses',
    () => {
      try {
        return JSON.parse(running.stdout()) as Record<string, PaperHosts & { control: string }>
      } catch {
        return undefined
      }
    },
    { seen: running.said },
  )
  const hosts = printed.arbitrum
  if (hosts === undefined) throw new Error(`no arbitrum in ${running.stdout()}`)
  return { ...running, hosts, control: hosts.control }
}

/** A strategy file that opens one position of $500 on ETH with the test's own kind. */
export function writeOnceStrategy(folder: string): void {
  writeFileSync(
    join(folder, 'once.yaml'),
    [
      `kind: ${join(import.meta.dirname, 'strategies', 'once.ts')}`,
      'market: ETH/USD [WETH-USDC]',
      'cadenceSeconds: 1',
      'size:',
      '  usd: 500',
      '  leverage: 2',
      '  collateral: short',
      '',
    ].join('\n'),
  )
}

/** Flags that put a daemon on a paper venue of another process, with all its state in `folder`. */
export function daemonFlags(folder: string, hosts: PaperHosts): string[] {
  return [
    ...hosts.api.map((host) => `--venue.apiHosts=${host}`),
    ...hosts.oracle.map((host) => `--venue.oracleHosts=${host}`),
    `--journal.path=${join(folder, 'journal.sqlite')}`,
    `--paper.keyFile=${join(folder, 'key')}`,
    `--strategies.paths=${join(folder, 'once.yaml')}`,
    '--control.port=0',
    `--control.tokenFile=${join(folder, 'control.token')}`,
    '--execution.statusPollMs=100',
    '--execution.statusPollMaxMs=500',
    '--execution.deadlineMarginSeconds=1',
    '--signing.minDeadlineSeconds=2',
    '--api.requestsPerSecondPerHost=1000',
    '--log.format=json',
  ]
}

/** Where each order of a journal stands, newest first, in the words of `perpd orders`: for whoever asks again and again. */
export async function standingsOf(folder: string): Promise<readonly Label[]> {
  const journal = openSqliteReader(join(folder, 'journal.sqlite'))
  try {
    return (await journal.intents()).map((state) => labelOf(state))
  } finally {
    await journal.close()
  }
}

/** One row of `perpd orders --json`. */
export interface OrderRow {
  readonly intentId: string
  readonly status: string
  readonly digest: string | null
  readonly requestId: string | null
  readonly kind: string
  readonly strategy: string
  readonly warnings: readonly string[]
}

/** What `perpd orders --json` says of a journal. */
export async function ordersOf(folder: string): Promise<readonly OrderRow[]> {
  const running = perpd(['orders', '--json', `--journal.path=${join(folder, 'journal.sqlite')}`])
  const code = await running.ended
  if (code !== 0) throw new Error(`perpd orders ended with ${code}: ${running.said()}`)
  return JSON.parse(running.stdout()) as readonly OrderRow[]
}
