/**
 * A node of a fleet: each second it reports what it holds, reads what the others report, and sets the aim of each of its accounts by the plan. Without an
 * answer of the database it leaves all aims as they are. Who trades is decided by the leases alone.
 */
import type { Clock, MonotonicClock } from '../../base/clock.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import type { FleetRows, NodeReport, NodeRow } from '../../domain/summaries/fleetReport.ts'
import type { FleetTable } from '../../journal/postgres/fleetTable.ts'
import type { Log } from '../../monitor/log/log.ts'
import type { Awaited } from '../logging/tellWaiting.ts'
import { type FleetNode, isWantedAt, type Placement, planFleet } from './planFleet.ts'

/** An account as the fleet steers it. */
export interface FleetAccount {
  /** Undefined for the only account of a process, which no fleet has. */
  readonly name: string | undefined
  /** True: it can be held here: its key is open, and no fault stopped it. */
  readonly can: () => boolean
  /** Epoch of the lease that it trades with; undefined: it does not trade here. */
  readonly epoch: () => number | undefined
  /** Tells whether it waits for its lease, which another process has. */
  readonly isNext: () => boolean
  /**
   * Sets its aim: true, to try for the lease and to trade with it; else, with words on where it is, to give it back once its orders under way are followed.
   * After its end it has none.
   */
  readonly want: (aim: true | Awaited) => void
}

/** Parts of a node. */
export interface FleetNodeParts {
  readonly table: FleetTable
  readonly name: string
  /** Host and process. */
  readonly process: string
  readonly accounts: readonly FleetAccount[]
  readonly clock: Clock
  readonly note: Log['note']
}

/** Between two rounds, ms. */
const ROUND_MS = 1_000

/** A node whose beat stood so long, by the reader's own clock, is dead, ms. */
const DEAD_MS = 5_000

/** Runs until the signal; then the node's row is removed. Never rejects for a server that does not answer. */
export async function runFleetNode(parts: FleetNodeParts, signal: AbortSignal): Promise<void> {
  const { table, clock, note } = parts
  const sinceMs = clock.now()
  const report = (): NodeReport => ({ ...reportOf(parts), sinceMs })
  const living = createLiving(clock)
  let isEntered = false
  let told: string | undefined
  const tell = (reason: string): void => {
    if (reason !== told) note('fleet.unsteered', 'warn', reason)
    told = reason
  }
  while (!signal.aborted) {
    try {
      if (!isEntered) {
        await table.prepare()
        await table.enter(report())
        isEntered = true
      }
      const isOwn = await table.report(report())
      if (isOwn) {
        aim(parts, await table.read(), living)
        told = undefined
      } else
        tell(
          `another perpd of this cluster is the node ${parts.name} too; this one takes no account more. Set cluster.node`,
        )
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      tell(`the fleet cannot be read; each account stays where it is: ${reasonOf(error)}`)
    }
    await clock.sleep(ROUND_MS, signal)
  }
  try {
    if (isEntered) await table.leave(reportOf(parts))
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
  } finally {
    await table.close()
  }
}

function reportOf({ name, process, accounts }: FleetNodeParts): NodeReport {
  return {
    ...{ node: name, process },
    lists: namesOf(accounts),
    can: namesOf(accounts.filter(({ can }) => can())),
    holds: accounts.flatMap(({ name: account = '', epoch }) => {
      const held = epoch()
      return held === undefined ? [] : [{ account, epoch: held }]
    }),
    waits: namesOf(accounts.filter(({ isNext }) => isNext())),
  }
}

function namesOf(accounts: readonly FleetAccount[]): readonly string[] {
  return accounts.flatMap(({ name }) => name ?? [])
}

/** Sets the aim of each account by the plan. */
function aim(
  { name, accounts }: FleetNodeParts,
  rows: FleetRows,
  isLiving: (node: NodeRow) => boolean,
): void {
  const view = { nodes: rows.nodes.filter(isLiving).map(nodeOf), wishes: rows.wishes }
  const plan = new Map(planFleet(view).map((place) => [place.account, place]))
  for (const { name: account = '', want } of accounts) {
    const place = plan.get(account)
    want(place !== undefined && isWantedAt(name, view, place) ? true : elsewhere(account, place, rows))
  }
}

function nodeOf({ node, can, holds, waits, isDraining }: NodeRow): FleetNode {
  return { name: node, can, holds, waits, isDraining }
}

/** Words on an account that is not to be held here. */
function elsewhere(account: string, place: Placement | undefined, { heads }: FleetRows): Awaited {
  const head = heads.find((each) => each.account === account)
  const isHeld = head !== undefined && head.holder !== ''
  const by = isHeld ? `held by ${head.holder}, epoch ${head.epoch}` : 'held by nobody'
  const owner = place?.owner === undefined ? 'no living node can hold it' : `it belongs to ${place.owner}`
  return {
    ...{ code: 'FLEET_ELSEWHERE', reason: `fleet: ${owner}; ${by}` },
    ...(isHeld && { holder: head.holder, epoch: head.epoch }),
  }
}

/** Judges by this process's own clock whether a node's beat moves; no other machine's clock counts. */
function createLiving(clock: MonotonicClock): (node: NodeRow) => boolean {
  const seen = new Map<string, { readonly mark: string; readonly atMs: number }>()
  return ({ node, process, beat }) => {
    const mark = `${process} ${beat}`
    const before = seen.get(node)
    if (before?.mark !== mark) seen.set(node, { mark, atMs: clock.monotonicMs() })
    return before?.mark !== mark || clock.monotonicMs() - before.atMs < DEAD_MS
  }
}
