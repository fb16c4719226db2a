/** Context of the commands of a fleet: its rows in the database of the journals. No account and no daemon has to run. */
import type { Commander } from '../../../domain/accountRecords/tradingState.ts'
import type { FleetRows, NodeRow } from '../../../domain/summaries/fleetReport.ts'
import type { AnyCommand, CommandRow } from '../../commandRow.ts'
import { type OperatorAnswer, type Refusal, refusal } from '../../operatorAnswer.ts'

/** Rows of a fleet, as its commands read and change them. Every request throws OutcomeUnknown without a certain answer, and JournalFaultError. */
export interface FleetContext {
  read(): Promise<FleetRows>
  /** Wishes an account to a node; undefined: to any. */
  wish(account: string, node: string | undefined): Promise<void>
  /** Drains the process that has this node's name now, or ends that; false: there is no such node. */
  drain(node: string, isDraining: boolean): Promise<boolean>
}

/** The row of a command of a fleet. */
export type FleetRow<Command extends AnyCommand = AnyCommand> = CommandRow<Command, FleetContext>

/** Carries a command of a fleet out, or shows its effects. */
export function runFleetRow(
  row: FleetRow,
  context: FleetContext,
  command: AnyCommand,
  commander: Commander,
): Promise<OperatorAnswer> {
  const shown = command.isPreview === true ? row.preview?.(context, command, commander) : undefined
  return shown ?? row.run(context, command, commander)
}

/** Words on a node whose newest report is old. */
export function silenceText({ node, ageMs }: NodeRow): string {
  return `${node} has been silent for ${Math.round(ageMs / 1_000)} s`
}

/** Returns the node of that name, or the refusal that names those that there are. */
export function nodeNamed({ nodes }: FleetRows, name: string): NodeRow | Refusal {
  const found = nodes.find(({ node }) => node === name)
  if (found !== undefined) return found
  const names = nodes.map(({ node }) => node).join(', ')
  const known = names === '' ? 'no daemon of this fleet runs' : `there are ${names}`
  return refusal('FLEET_NODE_UNKNOWN', `there is no node ${name}; ${known}`)
}
