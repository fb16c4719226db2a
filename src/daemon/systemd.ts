/**
 * Tells systemd what a service is at (sd_notify(3)): ready, reading anew, stopping, and a line for `systemctl status`. Told by systemd's
 * own program, because Node has no datagram sockets of the file system; one after the other, so that nothing overtakes.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Where systemd's program lies; never looked for in a PATH that others may have set. */
const programs = ['/usr/bin/systemd-notify', '/bin/systemd-notify'] as const
/** The longest that systemd's program may take, ms. */
const TIMEOUT_MS = 10_000
/** Between two looks at what the service is at, ms. */
const LOOK_MS = 10_000

/** The program of this machine; undefined where there is none. */
export function systemdProgram(): string | undefined {
  return programs.find((program) => existsSync(program))
}

/** Tells once; `done` is called whatever comes of it. What was told is told again in other words soon, or systemd acts by itself. */
export function tellSystemd(
  program: string,
  socket: string,
  words: readonly string[],
  done: () => void = () => undefined,
): void {
  const child = execFile(
    program,
    [`--pid=${process.pid}`, ...words],
    { env: { NOTIFY_SOCKET: socket }, timeout: TIMEOUT_MS },
    () => done(),
  )
  child.unref()
}

/** A service manager that is told, or nobody. */
export interface ServiceManager {
  /** One sentence when somebody waits to be told, and there is nothing to tell with. */
  readonly problem?: string
  /** The service takes commands, or has read its settings anew. */
  ready(): void
  /** It reads its settings anew. */
  reloading(): void
  /** It ends. */
  stopping(): void
  /** Tells nothing any more. */
  close(): void
}

const nobody: ServiceManager = {
  ready: () => undefined,
  reloading: () => undefined,
  stopping: () => undefined,
  close: () => undefined,
}

/**
 * The service manager that the environment names. `status`: one line that says what the service is at, for as long as it runs; told when
 * it changed, at most every ten seconds.
 */
export function createServiceManager(
  env: Readonly<Record<string, string | undefined>>,
  status: () => string,
  { program, lookMs = LOOK_MS }: { readonly program?: string | undefined; readonly lookMs?: number } = {
    program: systemdProgram(),
  },
): ServiceManager {
  const { NOTIFY_SOCKET: socket } = env
  if (socket === undefined || socket === '') return nobody
  if (program === undefined) {
    return {
      ...nobody,
      problem: `the unit may wait for a ready notification, but ${programs[0]} is not installed: set Type=exec in the unit, or systemd ends perpd after TimeoutStartSec`,
    }
  }
  const waiting: (readonly string[])[] = []
  let isTelling = false
  let shown: string | undefined
  let timer: NodeJS.Timeout | undefined

  function next(): void {
    const words = waiting.shift()
    isTelling = words !== undefined
    if (words !== undefined) tellSystemd(program ?? '', socket ?? '', words, next)
  }
  function tell(...words: readonly string[]): void {
    waiting.push(words)
    if (!isTelling) next()
  }
  function newStatus(): readonly string[] {
    const text = status()
    if (text === shown) return []
    shown = text
    return [`STATUS=${text}`]
  }
  function look(): void {
    // Status texts do not pile up while earlier ones wait.
    if (waiting.length > 0) return
    const words = newStatus()
    if (words.length > 0) tell(...words)
  }

  return {
    ready() {
      tell('READY=1', ...newStatus())
      timer ??= setInterval(look, lookMs).unref()
    },
    // The time is what systemd tells this reading from an earlier one by (Type=notify-reload).
    reloading: () => tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`),
    stopping: () => tell('STOPPING=1', 'STATUS=stopping'),
    close: () => clearInterval(timer),
  }
}
