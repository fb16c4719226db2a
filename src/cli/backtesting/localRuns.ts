/**
 * Backtests that a running daemon makes for its console, each in a process of its own with the commands that a person would type: `perpd backtest`,
 * then `perpd report`. That process goes behind the daemon for the processor, and shares nothing with it but the settings and the files of history.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseManifest, parseResult, runFileNames } from '../../backtest/runFiles.ts'
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { processOf } from '../../base/processFile.ts'
import type { Config } from '../../config/configTypes.ts'
import { MOST_RUNS, type RunDesk, type RunJob, type RunRow } from '../../control/console/runDesk.ts'

/** The program that is started for a run: perpd's own. */
export const binFile = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../bin.ts' : '../bin.js', import.meta.url),
)

/** Where the runs of a configuration lie: beside its history. */
export function runsFolder({ history }: Config): string {
  return join(dirname(history.folder), 'runs')
}

/** Where runs are made, and by what. */
export interface LocalRuns {
  readonly folder: string
  /** Program and its first arguments. */
  readonly program: readonly [string, ...string[]]
  /** Flags of settings, which every command is given too. */
  readonly settings: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Unix ms. */
  readonly now: () => number
}

/** Characters of a program's last words that are kept. */
const MOST_WORDS = 4_000
/** Time that a program which is ended has until it is killed, ms. */
const ENDING_MS = 3_000
/** A folder's name; no other is listed. */
const nameForm = /^[\w][\w.+-]{0,119}$/
const REPORT = 'report.html'

/** A page cannot be made; the message is the program's. */
class RunPageError extends BaseError {}

/** A desk that has made nothing yet. It begins no process before it is asked to. */
export function createRunDesk(place: LocalRuns): RunDesk {
  const children = new Set<ChildProcess>()
  const read = new Map<string, { readonly changedMs: number; readonly row: RunRow }>()
  const pages = new Map<string, Promise<void>>()
  let job: RunJob | undefined
  let making: ChildProcess | undefined

  /** Runs a command of perpd to its end; gives its exit code and its last words. */
  async function perpd(
    args: readonly string[],
    heard: (text: string) => void = () => {},
    begun?: (child: ChildProcess) => void,
  ) {
    const [file, ...first] = place.program
    const child = spawn(file, [...first, ...args, ...place.settings], {
      cwd: place.cwd,
      env: { ...place.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    children.add(child)
    begun?.(child)
    let words = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = `${words}${text}`.slice(-MOST_WORDS)
      heard(text)
    })
    try {
      if (child.pid !== undefined) behind(child.pid)
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, words: words.trim() }
    } catch (error) {
      return { code: null, words: reasonOf(error) }
    } finally {
      children.delete(child)
    }
  }

  /** Begins the one run that is made at a time: the command with its words, for this account, then its report. */
  function begin(
    name: string,
    strategy: string,
    account: string | undefined,
    command: readonly string[],
  ): RunJob {
    const words = account === undefined ? command : [...command, '--account', account]
    const begun: RunJob = { name, strategy, startedAtMs: place.now(), state: 'running', percent: 0 }
    job = begun
    make(name, words).catch((error: unknown) => ended({ state: 'failed', problem: reasonOf(error) }))
    return begun
  }

  async function make(name: string, asked: readonly string[]): Promise<void> {
    const heard = (text: string): void => {
      const percent = [...text.matchAll(/: (\d{1,3}) %/g)].at(-1)?.[1]
      if (percent !== undefined && job !== undefined) job = { ...job, percent: Number(percent) }
    }
    const made = await perpd(['backtest', ...asked, '--json'], heard, (child) => {
      making = child
    })
    making = undefined
    const isCancelled = job?.state === 'cancelled'
    if (made.code !== 0) return isCancelled ? undefined : ended({ state: 'failed', problem: made.words })
    const written = await perpd(['report', join(place.folder, name)])
    ended(written.code === 0 ? { state: 'over', percent: 100 } : { state: 'failed', problem: written.words })
  }

  function ended(change: Partial<RunJob>): void {
    if (job !== undefined) job = { ...job, ...change }
  }

  async function rowOf(
    name: string,
  ): Promise<{ readonly row: RunRow; readonly changedMs: number } | undefined> {
    const path = (file: keyof typeof runFileNames): string => join(place.folder, name, runFileNames[file])
    const times = [
      await timeOf(path('manifest')),
      await timeOf(path('result')),
      await timeOf(path('sentence')),
    ]
    // The sentence is written last: a row that was read before it is read again.
    const changedMs = Math.max(0, ...times.filter((each) => each !== undefined))
    const known = read.get(name)
    if (known?.changedMs === changedMs) return known
    const manifest = await parsed(path('manifest'), parseManifest)
    if (manifest === undefined) return undefined
    const result = await parsed(path('result'), parseResult)
    const sentence = (await parsed(path('sentence'), (text) => text.trim())) ?? ''
    const row: RunRow = {
      name,
      strategies: manifest.strategies.map((each) => each.name),
      fromSeconds: manifest.fromSeconds,
      toSeconds: manifest.toSeconds,
      ...defined({
        sentence: sentence === '' ? undefined : sentence,
        figures:
          result === undefined
            ? undefined
            : {
                isResult: result.isResult,
                madeUsd: String(result.madeUsd),
                holdMadeUsd: String(result.holdMadeUsd),
                maxDrawdownBps: result.maxDrawdownBps,
                trades: result.trades,
                wins: result.wins,
              },
      }),
    }
    const kept = { changedMs, row }
    // A result that cannot be read is being written.
    if (times[1] === undefined || result !== undefined) read.set(name, kept)
    return kept
  }

  /** Looks for the process that makes a run: a daemon that was killed leaves it running. */
  function beingMade({ name, figures }: RunRow): { readonly isBeingMade?: true } {
    const path = join(place.folder, name, runFileNames.process)
    return figures === undefined && processOf(path) !== undefined ? { isBeingMade: true } : {}
  }

  /** Makes the report of a run where it is missing or older than the run. */
  async function writePage(name: string): Promise<void> {
    const folder = join(place.folder, name)
    const [page = 0, result = 0] = [
      await timeOf(join(folder, REPORT)),
      await timeOf(join(folder, runFileNames.result)),
    ]
    if (page >= result) return
    const { code, words } = await perpd(['report', folder])
    if (code !== 0)
      throw new RunPageError('The report of this run cannot be made.', {
        code: 'REPORT_FAILED',
        facts: { name },
        details: words,
      })
  }

  return {
    async list() {
      const names = (await folderNames(place.folder)).filter((name) => nameForm.test(name))
      for (const name of read.keys()) if (!names.includes(name)) read.delete(name)
      const rows = []
      for (const name of names) rows.push((await rowOf(name)) ?? [])
      const found = rows.flat().toSorted((one, other) => other.changedMs - one.changedMs)
      const runs = found.slice(0, MOST_RUNS).map(({ row }) => ({ ...row, ...beingMade(row) }))
      return { runs, more: found.length - runs.length, ...defined({ job }) }
    },
    start(order) {
      if (job?.state === 'running') return undefined
      const stamp = new Date(place.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
      const named = [order.account, order.strategy].filter((each) => each !== undefined).join('-')
      const name = `${named.replaceAll(/[^\w.-]/g, '_').slice(0, 80)}-${stamp}`
      const flags = { from: order.from, to: order.to, balance: order.balance, source: order.source }
      const given = Object.entries(flags).flatMap(([flag, value]) =>
        value === undefined ? [] : [`--${flag}`, value],
      )
      const mode = order.mode === 'fast' ? ['--fast'] : []
      return begin(name, order.strategy, order.account, [
        order.path,
        '--out',
        join(place.folder, name),
        ...given,
        ...mode,
      ])
    },
    async resume(name, account) {
      const isThere = (await folderNames(place.folder)).includes(name)
      const row = isThere ? (await rowOf(name))?.row : undefined
      if (row === undefined || row.figures !== undefined || beingMade(row).isBeingMade) return 'none'
      if (job?.state === 'running') return 'running'
      return begin(name, row.strategies.join(', '), account, ['--resume', join(place.folder, name)])
    },
    cancel() {
      if (job?.state !== 'running' || making === undefined) return false
      job = { ...job, state: 'cancelled' }
      void end(making)
      return true
    },
    async page(name) {
      if (!(await folderNames(place.folder)).includes(name) || (await rowOf(name))?.row.figures === undefined)
        return undefined
      const writing = pages.get(name) ?? writePage(name).finally(() => pages.delete(name))
      pages.set(name, writing)
      await writing
      return await readFile(join(place.folder, name, REPORT), 'utf8')
    },
    async close() {
      await Promise.all([...children].map(end))
    },
  }
}

/** Ends a process, at last by force. Resolves when it is gone. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'close').catch(() => undefined)
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDING_MS)
  await gone
  clearTimeout(timer)
}

/** Gives a process the lowest priority: the daemon goes first. Nothing happens on a system without priorities. */
function behind(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {}
}

/** When a file was changed, Unix ms; undefined: there is none. */
async function timeOf(path: string): Promise<number | undefined> {
  return await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}

/** A file as it is read; undefined where there is none, or it is not of this form: one that is being written is neither. */
async function parsed<T>(path: string, parse: (text: string) => T): Promise<T | undefined> {
  try {
    return parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Folders of a folder; links are none. */
async function folderNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
