/**
 * Tells systemd that the main loop turns (`WatchdogSec=` of the unit): a loop that hangs tells nothing, and systemd starts
 * perpd anew. What is told is told by systemd's own program, because Node has no datagram sockets of the file system.
 */
import { systemdProgram, tellSystemd } from './systemd.ts'

/** A watchdog that is told, or why none is. */
export interface Watchdog {
  /** One sentence when the unit asks for a watchdog that cannot be told: systemd will end perpd. */
  readonly problem?: string
  stop(): void
}

/**
 * Tells twice in each `WATCHDOG_USEC`, for as long as `isAlive` says so: what `/livez` says fails the watchdog too. Nothing
 * is told where the environment names no socket or no time, or names another process.
 */
export function keepWatchdog(
  env: Readonly<Record<string, string | undefined>>,
  isAlive: () => boolean,
  options: { readonly program?: string | undefined } = {
    program: systemdProgram(),
  },
): Watchdog {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = env
  const periodMs = Number(WATCHDOG_USEC) / 1_000
  const isForUs = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid)
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '' || !(periodMs > 0) || !isForUs) {
    return { stop: () => undefined }
  }
  const { program } = options
  if (program === undefined) {
    return {
      problem: `the unit has WatchdogSec, but systemd-notify is not installed: systemd ends perpd after ${periodMs / 1_000} s. Remove WatchdogSec from the unit`,
      stop: () => undefined,
    }
  }
  const tell = (): void => {
    if (!isAlive()) return
    // One that failed is followed by another; when all fail, systemd does what a watchdog is for.
    tellSystemd(program, NOTIFY_SOCKET, ['WATCHDOG=1'])
  }
  tell()
  const timer = setInterval(tell, Math.max(100, periodMs / 2))
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
