/** The service manager of this process, as systemd is one. */

import type { Log } from '../monitor/log/log.ts'
import { counted } from '../monitor/text.ts'
import { createServiceManager, type ServiceManager } from './systemd.ts'
import type { Trader } from './trader.ts'
import { keepWatchdog } from './watchdog.ts'

/** The service manager, told that perpd lives and, by one line of `status`, what it is at; what keeps it from being told is in the log. */
export function openService(status: () => string, isAlive: () => boolean, log: Log): ServiceManager {
  const watchdog = keepWatchdog(process.env, isAlive)
  const manager = createServiceManager(process.env, status)
  if (watchdog.problem !== undefined) log.note('watchdog.unused', 'error', watchdog.problem)
  if (manager.problem !== undefined) log.note('systemd.unused', 'warn', manager.problem)
  return {
    ...manager,
    close() {
      watchdog.stop()
      manager.close()
    },
  }
}

/** Status text of a daemon that trades, as `systemctl status` shows it. */
export function serviceStatus({
  state,
  tradingState,
  positions,
  openOrders,
  unresolved,
}: ReturnType<Trader['status']>): string {
  return `${state}, trading ${tradingState}: ${counted(positions.length, 'position')}, ${counted(openOrders, 'open order')}, ${unresolved} unresolved`
}
