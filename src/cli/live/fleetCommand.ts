/** `perpd fleet`, `fleet move`, `fleet drain`: who holds which account, and who should. They ask the database, and need no daemon. */
import { ALL_ACCOUNTS } from '../../config/accountNames.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { fleetTableOf } from '../../daemon/fleet/openFleet.ts'
import type { FleetRows, FleetServers, FleetTable, NodeRow } from '../../journal/postgres/fleetTable.ts'
import { counted, span } from '../../monitor/text.ts'
import type { Call } from '../call/command.ts'
import { columns } from '../output/table.ts'

/** The word for any node. */
const ANY = 'any'

/** A node whose newest report is older than this is shown as silent, ms. */
const SILENT_MS = 10_000

/** Prints nodes and accounts. Exit code 1 when an account of a node that lives is held by nobody. */
export async function showFleet({ loaded, flags, out }: Call): Promise<number> {
  const { rows, servers } = await withFleet(loaded.config, async (table) => ({
    rows: await table.read(),
    servers: await table.servers(),
  }))
  const accounts = accountsOf(rows)
  if (flags.has('json')) out(JSON.stringify({ nodes: rows.nodes, accounts, servers }, undefined, 2))
  else out(fleetText(rows, accounts, servers))
  return accounts.some(({ holder, nodes }) => holder === '' && nodes.length > 0)
    ? exitCodes.error
    : exitCodes.ok
}

/** Wishes an account to a node. */
export async function moveAccount({ loaded, positionals, out }: Call): Promise<number> {
  const [account = '', node, ...more] = positionals
  if (node === undefined || more.length > 0)
    throw misuse(`perpd fleet move takes an account and a node, or ${ANY}: perpd fleet move alpha two.`)
  const told = await withFleet(loaded.config, async (table) => {
    const rows = await table.read()
    const names = accountsOf(rows).map(({ name }) => name)
    if (!names.includes(account))
      throw misuse(`There is no account ${account}; there are ${names.join(', ')}.`)
    if (node === ANY) {
      await table.wish(account, undefined)
      return `${account} may be held by any node; it stays where it is.`
    }
    const to = nodeNamed(rows, node)
    if (!to.can.includes(account))
      throw misuse(`The node ${node} cannot hold ${account}: it has no key for it.`)
    await table.wish(account, node)
    return `${account} goes to ${node} as soon as ${node} waits for it, and stays there; perpd fleet shows it. To end the wish: perpd fleet move ${account} ${ANY}`
  })
  out(told)
  return exitCodes.ok
}

/** Drains a node, or ends that. */
export async function drainNode({ loaded, flags, positionals, out }: Call): Promise<number> {
  const [node = ''] = positionals
  const isEnd = flags.has('end')
  const stays = await withFleet(loaded.config, async (table) => {
    const rows = await table.read()
    const own = nodeNamed(rows, node)
    await table.drain(node, !isEnd)
    const others = rows.nodes.filter((each) => each.node !== node && !each.isDraining && !isSilent(each))
    return own.holds
      .map(({ account }) => account)
      .filter((account) => !others.some(({ can }) => can.includes(account)))
  })
  const staying =
    stays.length === 0 || isEnd
      ? ''
      : `\n${stays.join(', ')} stay there: no other node that lives can hold them.`
  out(
    isEnd
      ? `${node} takes accounts again.`
      : `${node} gives its accounts away, one at a time, until its process ends; perpd fleet shows it.${staying}`,
  )
  return exitCodes.ok
}

async function withFleet<T>(
  config: Call['loaded']['config'],
  work: (table: FleetTable) => Promise<T>,
): Promise<T> {
  const table = fleetTableOf(config)
  try {
    await table.prepare()
    return await work(table)
  } finally {
    await table.close()
  }
}

function nodeNamed({ nodes }: FleetRows, name: string): NodeRow {
  const found = nodes.find(({ node }) => node === name)
  if (found !== undefined) return found
  const names = nodes.map(({ node }) => node).join(', ')
  throw misuse(
    `There is no node ${name}; ${names === '' ? 'no daemon of this fleet runs' : `there are ${names}`}.`,
  )
}

function misuse(text: string): CommandError {
  return new CommandError(`${text}\n  Nothing was changed.`, exitCodes.configuration)
}

function isSilent({ ageMs }: NodeRow): boolean {
  return ageMs > SILENT_MS
}

/** An account of a fleet. */
interface AccountOfFleet {
  readonly name: string
  /** Host and process that has its lease; empty: nobody. */
  readonly holder: string
  readonly epoch: number
  readonly records: number
  /** Node that trades it. */
  readonly node: string | undefined
  readonly wish: string | undefined
  /** Nodes that can hold it. */
  readonly nodes: readonly string[]
  readonly waiting: readonly string[]
}

function accountsOf({ nodes, heads, wishes }: FleetRows): readonly AccountOfFleet[] {
  const living = nodes.filter((node) => !isSilent(node))
  const names = new Set([...heads.map(({ account }) => account), ...nodes.flatMap(({ can }) => can)])
  names.delete(ALL_ACCOUNTS)
  return [...names].toSorted().map((name) => {
    const { holder = '', epoch = 0, records = 0 } = heads.find(({ account }) => account === name) ?? {}
    const holds = living.find(
      (node) => node.process === holder && node.holds.some((each) => each.account === name),
    )
    return {
      ...{ name, holder, epoch, records, node: holds?.node, wish: wishes.get(name) },
      nodes: living.filter(({ can }) => can.includes(name)).map(({ node }) => node),
      waiting: living.filter(({ waits }) => waits.includes(name)).map(({ node }) => node),
    }
  })
}

function fleetText(
  { nodes }: FleetRows,
  accounts: readonly AccountOfFleet[],
  { standbys, lagBytes }: FleetServers,
): string {
  const lag = lagBytes === undefined ? '' : `, ${lagBytes} bytes behind`
  const nodeRows = nodes.map((node) => [
    node.node,
    node.process,
    isSilent(node)
      ? `silent for ${span(node.ageMs)}`
      : `${node.isDraining ? 'drains' : 'lives'}, heard ${span(node.ageMs)} ago`,
    `holds ${node.holds.map(({ account }) => account).join(', ') || 'nothing'}`,
  ])
  const accountRows = accounts.map(({ name, holder, epoch, node, wish, waiting }) => [
    name,
    holder === '' ? 'held by nobody' : `held by ${node ?? holder}`,
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
