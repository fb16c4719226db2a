/** A fleet as people see it: its nodes, and who holds, waits for and could hold each account. Made from the rows that its nodes write; decides nothing. */

/** A node's report on itself. */
export interface NodeReport {
  readonly node: string
  /** Host and process, as holders of leases are named. */
  readonly process: string
  /** When the process joined the fleet, by the node's own clock, Unix ms; absent in reports of older versions. For people alone. */
  readonly sinceMs?: number
  /** Accounts of its settings; absent in reports of older versions. */
  readonly lists?: readonly string[]
  /** Accounts whose key is open there. */
  readonly can: readonly string[]
  readonly holds: readonly { readonly account: string; readonly epoch: number }[]
  readonly waits: readonly string[]
}

/** A node's row. */
export interface NodeRow extends NodeReport {
  /** Grows while the node lives. */
  readonly beat: number
  /** Age of its last beat by the server's clock, ms; for people alone. */
  readonly ageMs: number
  /** True: an operator drains this process. */
  readonly isDraining: boolean
}

/** The head of an account's journal. */
export interface HeadRow {
  readonly account: string
  readonly epoch: number
  /** Host and process; empty: nobody has the lease. */
  readonly holder: string
  /** When the lease was taken or given back, by the server's clock, Unix ms; absent: not recorded. For people alone. */
  readonly sinceMs?: number
  readonly records: number
}

/** All rows of a fleet at one moment. */
export interface FleetRows {
  readonly nodes: readonly NodeRow[]
  readonly wishes: ReadonlyMap<string, string>
  readonly heads: readonly HeadRow[]
}

/** The database's standby servers. */
export interface FleetServers {
  readonly standbys: number
  /** Bytes of the log that the farthest one lacks; absent: not visible. */
  readonly lagBytes?: number
}

/** An account of a fleet. */
export interface AccountOfFleet {
  readonly name: string
  /** Host and process that has its lease; empty: nobody. */
  readonly holder: string
  readonly epoch: number
  /** As in its head. */
  readonly sinceMs?: number
  readonly records: number
  /** False: it has a journal, and it is in the settings of no node: nobody is to hold it. True while a node does not say what it lists. */
  readonly isListed: boolean
  /** Node that trades it; absent: none that lives. */
  readonly node?: string
  /** Node that has its lease and is silent: perhaps nobody trades it. */
  readonly silentNode?: string
  /** Node that an operator wants to hold it. */
  readonly wish?: string
  /** Living nodes that can hold it. */
  readonly nodes: readonly string[]
  /** Living nodes that wait for its lease. */
  readonly waiting: readonly string[]
}

/** A node, and what its silence says. */
export interface NodeOfFleet extends NodeRow {
  /** True: its newest report is older than ten seconds. */
  readonly isSilent: boolean
}

/** A fleet: `perpd fleet --json`, and `GET /api/fleet`. */
export interface FleetReport {
  readonly nodes: readonly NodeOfFleet[]
  readonly accounts: readonly AccountOfFleet[]
  readonly servers: FleetServers
}

/** A node whose newest report is older than this is shown as silent, ms. */
const SILENT_MS = 10_000

/** Tells whether a node has been silent for so long that it counts as gone. */
export function isSilent({ ageMs }: NodeRow): boolean {
  return ageMs > SILENT_MS
}

/** Returns the accounts of a fleet, by name: those with a journal, and those that a node lists. */
export function accountsOf({ nodes, heads, wishes }: FleetRows): readonly AccountOfFleet[] {
  const living = nodes.filter((node) => !isSilent(node))
  const lists = nodes.map((node) => node.lists)
  // Without a word of every node, and without any node, the account may be missed.
  const isAnyListed = nodes.length === 0 || lists.includes(undefined)
  const listed = new Set([...wishes.keys(), ...lists.flatMap((each) => each ?? [])])
  const names = new Set([
    ...heads.map(({ account }) => account),
    ...nodes.flatMap(({ can, lists = can }) => [...can, ...lists]),
  ])
  return [...names].toSorted().map((name) => {
    const head = heads.find(({ account }) => account === name)
    const { holder = '', epoch = 0, records = 0, sinceMs } = head ?? {}
    const node = living.find(
      (each) => each.process === holder && each.holds.some(({ account }) => account === name),
    )?.node
    const silentNode = nodes.find((each) => holder !== '' && each.process === holder && isSilent(each))?.node
    const wish = wishes.get(name)
    return {
      ...{ name, holder, epoch, records, isListed: isAnyListed || listed.has(name) },
      ...(sinceMs !== undefined && { sinceMs }),
      ...(node !== undefined && { node }),
      ...(silentNode !== undefined && { silentNode }),
      ...(wish !== undefined && { wish }),
      nodes: living.filter(({ can }) => can.includes(name)).map((each) => each.node),
      waiting: living.filter(({ waits }) => waits.includes(name)).map((each) => each.node),
    }
  })
}

/** Returns a fleet as people see it. */
export function fleetReport(rows: FleetRows, servers: FleetServers): FleetReport {
  const nodes = rows.nodes.map((node) => ({ ...node, isSilent: isSilent(node) }))
  return { nodes, accounts: accountsOf(rows), servers }
}

/** Returns what keeps a fleet from trading all of its accounts, a sentence each; empty: each account that a node lists has a holder, and none that is silent. */
export function fleetFaults({ nodes, accounts }: FleetReport): readonly string[] {
  const namesOf = (wanted: (account: AccountOfFleet) => boolean): string =>
    accounts
      .filter(wanted)
      .map(({ name }) => name)
      .join(', ')
  const unheld = namesOf(({ holder, isListed }) => holder === '' && isListed)
  const silent = namesOf(({ silentNode }) => silentNode !== undefined)
  return [
    ...(nodes.some((node) => !node.isSilent) ? [] : ['No node lives.']),
    ...(unheld === '' ? [] : [`Held by nobody: ${unheld}.`]),
    ...(silent === '' ? [] : [`Held by a node that is silent: ${silent}.`]),
  ]
}
