/** Opens the fleet of a process: its table in the database of the journals, the loop that steers its accounts, and what the control port shows and changes of it. */
import { hostname } from 'node:os'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { FleetPort } from '../../control/fleetRoutes.ts'
import { type FleetReport, fleetReport } from '../../domain/summaries/fleetReport.ts'
import { type FleetTable, openFleetTable } from '../../journal/postgres/fleetTable.ts'
import type { Log } from '../../monitor/log/log.ts'
import { runFleetRow } from '../../operator/commands/ofFleet/fleetContext.ts'
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

/** Pages that ask within this time get one reading, ms. */
const READ_MS = 1_000

/** A fleet as the control port has it; it asks the database only while somebody looks or commands. */
export interface OpenFleetPort extends FleetPort {
  close(): Promise<void>
}

/** Makes it; undefined: no fleet is configured. It has a connection of its own, so that nobody who looks delays a beat. */
export function fleetPortOf(config: Config, note: Log['note']): OpenFleetPort | undefined {
  if (config.cluster.name === undefined) return undefined
  const table = fleetTableOf(config)
  let newest: { readonly atMs: number; readonly report: Promise<FleetReport> } | undefined
  const read = async (): Promise<FleetReport> => {
    await table.prepare()
    return fleetReport(await table.read(), await table.servers())
  }
  return {
    report() {
      const atMs = systemClock.monotonicMs()
      if (newest === undefined || atMs - newest.atMs >= READ_MS) newest = { atMs, report: read() }
      return newest.report
    },
    async operate(row, command, commander) {
      await table.prepare()
      const answer = await runFleetRow(row, table, command, commander)
      newest = undefined
      if (answer.ok && command.isPreview !== true)
        note('fleet.commanded', 'warn', `${commander.by}: ${answer.statement}`)
      return answer
    },
    close: () => table.close(),
  }
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
