/** `perpd top`, and `perpd status --watch`: the daemon's status again and again, on a screen of its own where there is one. */
import { isoTime } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { typedDecimal } from '../../base/typedNumber.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Call } from '../call/command.ts'
import { queryStatus } from '../call/daemonClient.ts'
import { type LiveBody, lastOffset, liveScreen, liveText, type NamedStatus, pageOf } from './liveScreen.ts'
import { isLiveTerminal, openLiveTerminal } from './liveTerminal.ts'

const USUAL_SECONDS = 2
const LEAST_SECONDS = 0.5
const MOST_SECONDS = 3_600

/** Shows the status until q or Ctrl-C; without a terminal prints it again and again. Exit code 3 when no daemon answers at first. */
export async function top(call: Call): Promise<number> {
  return await watchStatus(call, 'every')
}

/** The same, with the seconds in the flag of this name. */
export async function watchStatus(call: Call, flag: string): Promise<number> {
  return await watch(call, () => queryStatus(call.loaded), flag)
}

/** The same for several accounts on one screen. Exit code 3 when none answers at first. */
export async function watchAll(calls: readonly Call[], flag: string): Promise<number> {
  const [first] = calls
  return first === undefined ? exitCodes.ok : await watch(first, () => queryAll(calls), flag)
}

/** The status of several accounts; one that gives none has its reason. Throws the first's CommandError when none gives any. */
async function queryAll(calls: readonly Call[]): Promise<LiveBody> {
  const asked = await Promise.allSettled(calls.map(({ loaded }) => queryStatus(loaded)))
  const accounts = asked.map((each, at): NamedStatus => {
    const name = calls[at]?.loaded.config.accountName ?? ''
    if (each.status === 'fulfilled') return { name, body: each.value }
    if (each.reason instanceof CommandError) return { name, body: each.reason.message }
    throw each.reason
  })
  const times = accounts.flatMap(({ body }) => (typeof body === 'string' ? [] : [body.nowMs]))
  const [failed] = asked
  if (times.length === 0 && failed?.status === 'rejected') throw failed.reason
  return { nowMs: Math.max(...times), accounts }
}

async function watch(call: Call, read: ReadLive, flag: string): Promise<number> {
  const everyMs = intervalMs(flag, call.flags.get(flag))
  const first = await read()
  if (call.flags.has('json') || !isLiveTerminal(call.env)) return await printAgain(call, first, read, everyMs)
  const command = flag === 'watch' ? 'perpd status --watch' : 'perpd top'
  return await drawAgain(call, first, read, { everyMs, command })
}

/** Reads what the screen shows. */
type ReadLive = () => Promise<LiveBody>

function intervalMs(flag: string, given: string | true | undefined): number {
  if (given === undefined || given === true) return USUAL_SECONDS * 1_000
  const seconds = Number(typedDecimal(given, 1))
  if (seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS) return seconds * 1_000
  throw new CommandError(
    `--${flag} is ${given}; expected seconds, from ${LEAST_SECONDS} to ${MOST_SECONDS}.`,
    exitCodes.error,
  )
}

/** One status below the other, each as its own screen or line of JSON; ends when the daemon does, with its exit code. */
async function printAgain(
  { flags, width, out }: Call,
  first: LiveBody,
  read: ReadLive,
  everyMs: number,
): Promise<never> {
  for (let body = first; ; body = await read()) {
    out(flags.has('json') ? JSON.stringify(body) : `${isoTime(body.nowMs)}\n${liveText(body, width)}\n`)
    await systemClock.sleep(everyMs)
  }
}

/** More lines than any status has. */
const FAR = 1_000_000

/** Movement by each key, in lines or pages. */
const moves: Readonly<Record<string, { readonly lines?: number; readonly pages?: number }>> = {
  j: { lines: 1 },
  k: { lines: -1 },
  '\u001b[B': { lines: 1 },
  '\u001b[A': { lines: -1 },
  ' ': { pages: 1 },
  b: { pages: -1 },
  g: { lines: -FAR },
  G: { lines: FAR },
  '\u001b[6~': { pages: 1 },
  '\u001b[5~': { pages: -1 },
}

async function drawAgain(
  { env }: Call,
  first: LiveBody,
  read: ReadLive,
  { everyMs, command }: { readonly everyMs: number; readonly command: string },
): Promise<number> {
  const hasColor = (env.NO_COLOR ?? '') === ''
  const ending = new AbortController()
  let body = first
  let problem: string | undefined
  let offset = 0
  const draw = (): void => {
    const [columns, rows] = [terminal.columns(), terminal.rows()]
    offset = Math.max(0, Math.min(offset, lastOffset(body, columns, rows)))
    const facts = { command, body, everyMs, offset, hasColor, ...defined({ problem }) }
    terminal.draw(liveScreen(facts, columns, rows))
  }
  const terminal = openLiveTerminal({
    onKey: (key) => {
      if (key === 'q' || key === 'Q') return ending.abort()
      const { lines = 0, pages = 0 } = moves[key] ?? {}
      offset += lines + pages * pageOf(terminal.rows())
      draw()
    },
    onResize: draw,
    onEnd: () => ending.abort(),
  })
  const ended = new Promise<void>((resolve) => ending.signal.addEventListener('abort', () => resolve()))
  const look = async (): Promise<void> => {
    try {
      body = await read()
      problem = undefined
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      problem = error.message.split('\n')[0]
    }
  }
  try {
    while (!ending.signal.aborted) {
      draw()
      await systemClock.sleep(everyMs, ending.signal)
      // A daemon that hangs keeps nobody from leaving.
      if (!ending.signal.aborted) await Promise.race([look(), ended])
    }
  } finally {
    terminal.close()
  }
  return exitCodes.ok
}
