/** Opens the fleet of a process: its table in the database of the journals, and the loop that steers its accounts. */
import { hostname } from 'node:os'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { type FleetTable, openFleetTable } from '../../journal/postgres/fleetTable.ts'
import type { Log } from '../../monitor/log/log.ts'
import { postgresOf } from '../journalFile.ts'
import { type FleetAccount, runFleetNode } from './fleetNode.ts'

/** Returns the name of this machine in its fleet. */
function nodeNameOf({ cluster }: Config): string {
  return cluster.node ?? hostname()
}

/**
 * Opens the table of the configured fleet; nothing is connected yet.
 *
 * @throws CommandError with exit code 4 where no fleet is configured.
 */
export function fleetTableOf(config: Config): FleetTable {
  const postgres = postgresOf(config)
  const { name } = config.cluster
  if (name === undefined || postgres === undefined)
    throw new CommandError(
      'There is no fleet: cluster.name is empty.\n  Set it on each node, with accounts, journal.url and journal.standby.',
      exitCodes.configuration,
    )
  const { url, needsStandby, account: rows } = postgres
  return openFleetTable({ url, needsStandby, cluster: name, rows })
}

/**
 * Has each account tried for: by the plan of the fleet, or all of them where there is none. The returned function ends the steering, and resolves once the
 * node has left its fleet.
 */
export function steer(
  config: Config,
  accounts: readonly FleetAccount[],
  log: Log,
  fail: (error: unknown) => void,
): () => Promise<void> {
  if (config.cluster.name === undefined) {
    for (const account of accounts) account.want(true)
    return () => Promise.resolve()
  }
  const ending = new AbortController()
  const over = runFleetNode(
    {
      table: fleetTableOf(config),
      name: nodeNameOf(config),
      process: `${hostname()}/${process.pid}`,
      accounts,
      clock: systemClock,
      note: log.note,
    },
    ending.signal,
  ).catch(fail)
  return async () => {
    ending.abort()
    await over
  }
}
