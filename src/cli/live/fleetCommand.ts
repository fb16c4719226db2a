/** `perpd fleet`, `fleet move`, `fleet drain`: who holds which account, and who should. They ask the database, and need no daemon. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import { parseCommand } from '../../control/parseCommand.ts'
import { fleetTableOf } from '../../daemon/fleet/openFleet.ts'
import { journalNameOf } from '../../daemon/journalFile.ts'
import { type FleetReport, fleetFaults, fleetReport } from '../../domain/summaries/fleetReport.ts'
import { OutcomeUnknown } from '../../journal/fenced/sharedServer.ts'
import type { FleetTable } from '../../journal/postgres/fleetTable.ts'
import { counted, ended, span } from '../../monitor/text.ts'
import type { AnyCommand } from '../../operator/commandRow.ts'
import { fleetRows } from '../../operator/commands/index.ts'
import { runFleetRow } from '../../operator/commands/ofFleet/fleetContext.ts'
import type { Call } from '../call/command.ts'
import { requestOf } from '../call/sendRow.ts'
import { columns } from '../output/table.ts'

/** Prints nodes and accounts. Exit code 1, with the reason on standard error, when no node lives, and when nobody or a silent node holds an account that a node lists. */
export async function showFleet({ loaded, flags, out, err }: Call): Promise<number> {
  const report = await withFleet(loaded.config, 'Nothing was changed.', async (table) =>
    fleetReport(await table.read(), await table.servers()),
  )
  out(flags.has('json') ? JSON.stringify(report, undefined, 2) : fleetText(report))
  const faults = fleetFaults(report)
  for (const fault of faults) err(fault)
  return faults.length > 0 ? exitCodes.error : exitCodes.ok
}

/** Carries a command of a fleet out by its row; with `--dry-run` it only shows its effects. Throws CommandError. */
export async function sendFleet(call: Call, name: keyof typeof fleetRows): Promise<number> {
  const { flags, loaded, out } = call
  const row = fleetRows[name]
  const [line] = row.cli
  if (line === undefined) throw new TypeError(`The row ${name} has no command.`)
  const { body } = requestOf(call, row, line)
  const preview = flags.has('dry-run') ? { preview: true } : {}
  const parsed = parseCommand<AnyCommand>(row, { ...body, ...preview })
  if (!parsed.ok) throw misuse(parsed.problem)
  const { command, by } = parsed
  const doubt = flags.has('dry-run')
    ? 'Nothing was changed.'
    : 'Perhaps the command was carried out: see perpd fleet before you repeat it.'
  const answer = await withFleet(loaded.config, doubt, (table) =>
    runFleetRow(row, table, command, { by, via: 'control' }),
  )
  if (!answer.ok) throw misuse(`${answer.code}: ${answer.reason}`)
  const { statement } = answer
  out(flags.has('json') ? JSON.stringify({ statement }) : ended(statement))
  return exitCodes.ok
}

/** Works on the fleet's rows. Throws CommandError where the database does not answer for certain; `doubt` says what may have been changed then. */
async function withFleet<T>(
  config: Call['loaded']['config'],
  doubt: string,
  work: (table: FleetTable) => Promise<T>,
): Promise<T> {
  const table = fleetTableOf(config)
  try {
    await table.prepare()
    return await work(table)
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    throw new CommandError(
      `${journalNameOf(config)} did not answer for certain: ${error.facts.reason ?? error.shortMessage}\n  ${doubt} Check journal.url, the server and the network.`,
      exitCodes.error,
    )
  } finally {
    await table.close()
  }
}

function misuse(text: string): CommandError {
  return new CommandError(`${text}\n  Nothing was changed.`, exitCodes.configuration)
}

function fleetText({ nodes, accounts, servers: { standbys, lagBytes } }: FleetReport): string {
  const lag = lagBytes === undefined ? '' : `, ${lagBytes} bytes behind`
  const silenceOf = new Map(nodes.map(({ node, ageMs }) => [node, span(ageMs)]))
  const nodeRows = nodes.map((node) => [
    node.node,
    node.process,
    node.isSilent
      ? `silent for ${span(node.ageMs)}`
      : `${node.isDraining ? 'drains' : 'lives'}, heard ${span(node.ageMs)} ago`,
    `${node.isSilent ? 'held then' : 'holds'} ${node.holds.map(({ account }) => account).join(', ') || 'nothing'}`,
  ])
  const accountRows = accounts.map(({ name, holder, epoch, isListed, node, silentNode, wish, waiting }) => [
    name,
    holder === ''
      ? isListed
        ? 'held by nobody'
        : 'not listed by any node'
      : silentNode === undefined
        ? `held by ${node ?? holder}`
        : `${silentNode} is silent for ${silenceOf.get(silentNode)}`,
    `epoch ${epoch}`,
    [
      ...(waiting.length > 0 ? [`${waiting.join(', ')} waits`] : []),
      ...(wish === undefined || wish === node ? [] : [`wished to ${wish}`]),
    ].join('; '),
  ])
  return [
    columns([['node', 'process', 'state', 'accounts'], ...nodeRows]),
    columns([['account', 'holder', 'epoch', ''], ...accountRows]),
    `database: ${counted(standbys, 'standby')}${lag}`,
  ].join('\n\n')
}
