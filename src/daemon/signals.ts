/** Handles the process's signals in a running daemon. */
import { isatty } from 'node:tty'
import { systemClock } from '../base/systemClock.ts'
import { exitCodes } from '../config/exit.ts'
import type { Log } from '../monitor/log/log.ts'
import type { OperatorCommand } from '../operator/commands/index.ts'
import type { EngineApi } from '../operator/port/engineStatus.ts'
import { isToldByEvent } from './logging/changeLog.ts'
import type { ServiceManager } from './systemd.ts'

/** Is told of a command that was carried out, and who gave it. */
export type CarriedOut = (command: OperatorCommand, by: string) => void

/** The trader that signals stop and command, or those of several accounts as one. */
export interface SignalledEngine {
  readonly operate: EngineApi['operate']
  /** Drains; resolves when done. */
  stop(signal: string): Promise<void>
  abort(): void
}

/** Signals this close to the first are the same decision. */
const sameSignalMs = 1_000

/**
 * The first SIGINT or SIGTERM drains, the second exits at once. SIGUSR2 halts. SIGHUP reloads the limits and then the strategy files, and reports
 * the reload to a service manager. When the terminal of the log is gone, SIGHUP drains: nobody is left to watch.
 */
export function listenForSignals(
  engine: SignalledEngine,
  log: Log,
  fatal: (error: unknown) => void,
  end: (code: number) => void,
  carriedOut: CarriedOut = () => undefined,
  manager?: Pick<ServiceManager, 'ready' | 'reloading' | 'stopping'>,
): () => void {
  let firstAtMs: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    const nowMs = systemClock.monotonicMs()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      manager?.stopping()
      engine.stop(signal).then(() => end(exitCodes.ok), fatal)
      return
    }
    // One Ctrl-C under npm reaches us twice: from the terminal, and forwarded by npm.
    if (nowMs - firstAtMs < sameSignalMs) return
    log.note('daemon.leaving', 'warn', 'second signal: exiting at once; the next start resumes open orders')
    engine.abort()
    end(exitCodes.error)
  }
  const command = (signal: string, ...all: readonly OperatorCommand[]): void => {
    const inOrder = async (): Promise<void> => {
      const isReading = all.some(({ type }) => type === 'reload')
      if (isReading) manager?.reloading()
      for (const asked of all) {
        const answer = await engine.operate(asked, { by: `signal ${signal}`, via: 'signal' })
        if (answer.ok) carriedOut(asked, `signal ${signal}`)
        if (isToldByEvent(answer)) continue
        if (answer.ok) log.note('operator.signalled', 'warn', `${signal}: ${answer.statement}`)
        else log.note('operator.signalled', 'error', `${signal}: ${answer.reason}`)
      }
      // It was not, once it stops.
      if (isReading && firstAtMs === undefined) manager?.ready()
    }
    inOrder().catch(fatal)
  }
  const onHangUp = (): void => {
    if (isTerminalGone()) onSignal('SIGHUP')
    else command('SIGHUP', { type: 'limits', isConfirmed: false }, { type: 'reload', isConfirmed: false })
  }
  const onHalt = (): void =>
    command('SIGUSR2', { type: 'trading', scope: 'global', state: 'halted', reason: 'SIGUSR2 was sent' })
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  process.on('SIGHUP', onHangUp)
  process.on('SIGUSR2', onHalt)
  return () => {
    process.off('SIGHUP', onHangUp)
    process.off('SIGUSR2', onHalt)
    const off = (): void => {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    }
    // The one that npm forwards may come when all is closed already, and would end us by the signal instead of with 0.
    if (firstAtMs === undefined) off()
    else setTimeout(off, sameSignalMs).unref()
  }
}

/** Tells whether standard output was a terminal and is none any more: the system takes a terminal away before it sends SIGHUP. */
function isTerminalGone(): boolean {
  return process.stdout.isTTY === true && !isatty(1)
}
