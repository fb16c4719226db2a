/** Every command that an operator may give: a row each. The control port, the command line, the console and the reference pages derive from them. */
import type { AnyCommand, CommandRow, ReadRow } from '../commandRow.ts'
import { applyLimits } from './applyLimits.ts'
import { cancelOrder } from './cancelOrder.ts'
import { closePosition } from './closePosition.ts'
import { forgetStrategy } from './forgetStrategy.ts'
import { moveOrder } from './moveOrder.ts'
import { drainNode } from './ofFleet/drainNode.ts'
import type { FleetRow } from './ofFleet/fleetContext.ts'
import { moveAccount } from './ofFleet/moveAccount.ts'
import { openPosition } from './openPosition.ts'
import { protectPosition } from './protectPosition.ts'
import { reloadFiles } from './reloadFiles.ts'
import { resolveOrder } from './resolveOrder.ts'
import { setLogLevel } from './setLogLevel.ts'
import { setStrategyField } from './setStrategyField.ts'
import { setTrading } from './setTrading.ts'
import { settleDiscrepancy } from './settleDiscrepancy.ts'
import { startKill } from './startKill.ts'
import { startTask } from './startTask.ts'
import { stopTask } from './stopTask.ts'
import { pauseStrategy, resumeStrategy } from './switchStrategy.ts'
import { tightenLimit } from './tightenLimit.ts'
import { trustMarketRow } from './trustMarket.ts'
import { unwindOrder } from './unwindOrder.ts'

/** The rows. */
export const commandRows = {
  setTrading,
  startKill,
  tightenLimit,
  applyLimits,
  setLogLevel,
  settleDiscrepancy,
  trustMarket: trustMarketRow,
  reloadFiles,
  setStrategyField,
  pauseStrategy,
  resumeStrategy,
  forgetStrategy,
  openPosition,
  closePosition,
  protectPosition,
  startTask,
  stopTask,
  moveOrder,
  cancelOrder,
  unwindOrder,
  resolveOrder,
} as const

/** Name of a row. */
export type CommandName = keyof typeof commandRows

type CommandIn<Row> = Row extends CommandRow<infer Command> ? Command : never

/** A command. */
export type OperatorCommand = CommandIn<(typeof commandRows)[CommandName]>

/** The rows without their names. */
export const allRows: readonly CommandRow[] = Object.values<CommandRow>(commandRows)

/** Commands of a fleet: they change its rows in the database, and are no account's. */
export const fleetRows: {
  readonly moveAccount: FleetRow
  readonly drainNode: FleetRow
} = { moveAccount, drainNode }

/** All rows, of accounts and of a fleet: for what is printed from them. */
export const everyRow: readonly ReadRow[] = [...allRows, ...Object.values(fleetRows)]

const byType = new Map(allRows.map((row) => [row.type, row]))

/** The row that carries out a command; rows of one type do the same work. */
export function rowOf({ type }: AnyCommand): CommandRow {
  const row = byType.get(type)
  if (row === undefined) throw new TypeError(`There is no command ${type}.`)
  return row
}
