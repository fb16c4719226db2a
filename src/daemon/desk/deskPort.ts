/** The control port of a process, and what it says of its console. */

import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import type { ConsoleSettings } from '../../control/console/webConsole.ts'
import type { AccountContext } from '../../control/routes.ts'
import type { ControlServer, DeskOptions } from '../../control/server.ts'
import type { Emit } from '../../domain/event.ts'
import type { Log } from '../../monitor/log/log.ts'
import { createMetrics, type Metrics } from '../../monitor/metrics/metrics.ts'
import { openControl, openDesk } from '../controlPort/openControl.ts'
import { metricsOf } from '../standbyPort.ts'
import { deskAccounts, type Seat } from './allAccounts.ts'
import type { RunningAccount } from './runningAccount.ts'

/** Opens the control port: of the only account, or of all accounts with names. */
export async function servePort(
  emit: Emit,
  place: Omit<DeskOptions, 'accounts' | 'metrics'>,
  seats: readonly Seat[],
  {
    metrics,
    served,
  }: { readonly metrics: Metrics; readonly served: (account: RunningAccount) => AccountContext },
): Promise<ControlServer> {
  const [only] = seats
  const one = only?.name === undefined ? only?.running() : undefined
  if (one !== undefined) return await openControl(emit, { ...place, ...served(one) })
  const accounts = deskAccounts(seats, served, waitingMetrics)
  return await openDesk(emit, { ...place, metrics, accounts })
}

/** Makes the series of an account that waits for its journal. */
function waitingMetrics(config: Config): Metrics {
  return createMetrics({ ...metricsOf(config), isOfAccount: true })
}

/** Where the console is told of. */
interface ConsoleWords {
  readonly log: Log
  /** Writes to the operator's terminal alone; absent: there is none. */
  readonly terminal?: (text: string) => void
}

/**
 * Says where the console is. The log may be kept for years and by others: it names the address alone. The link to it goes to the
 * terminal of whoever started the daemon, who may read its tokens as well.
 */
export function sayConsole(
  config: Config,
  { console, localUrl }: ControlServer,
  { log, terminal }: ConsoleWords,
): void {
  if (console === undefined) return
  log.note(
    'console.served',
    'info',
    `console at ${config.control.consoleUrl ?? localUrl}/console/; for a link: perpd console`,
  )
  terminal?.(`console link, valid once within ten minutes: ${console.link('operate').url}`)
}

/** Settings of the console, where it is served. */
export function consoleOf({ control }: Config): { readonly console?: ConsoleSettings } {
  const { console: isServed, consoleUrl, typedSizeBps } = control
  return isServed
    ? { console: { clock: systemClock, typedSizeBps, ...defined({ publicUrl: consoleUrl }) } }
    : {}
}
