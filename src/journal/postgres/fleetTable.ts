/**
 * The table of a fleet, beside the journals: which nodes there are, which accounts each can hold, holds and waits for, and what operators wish. Every row is
 * about who should try; the head of an account's journal alone says who may write.
 */
import { defined } from '../../base/defined.ts'
import type { Secret } from '../../base/secret.ts'
import type {
  FleetRows,
  FleetServers,
  HeadRow,
  NodeReport,
  NodeRow,
} from '../../domain/summaries/fleetReport.ts'
import { createPostgresClient, type PostgresClient, type Row } from './postgresClient.ts'
import { postgresName } from './postgresPlace.ts'
import { createStatements, readIsMade, readReplication } from './postgresSchema.ts'

/** A fleet's rows in the database. */
export interface FleetPlace {
  readonly url: Secret
  /** A commit must have reached a second server. */
  readonly needsStandby: boolean
  /** Name of the cluster, the same on all its nodes. */
  readonly cluster: string
  /** Name of the journal rows of the accounts without the account's own: `paper` of `paper.alpha`. */
  readonly rows: string
}

/** A fleet's rows, for its nodes and for commands. Every request throws OutcomeUnknown without a certain answer, and JournalFaultError. */
export interface FleetTable {
  /** Makes what is missing: its tables, and those of the journals. */
  prepare(): Promise<void>
  /** Writes a node's report with a beat; false: another process has the node's name, and wrote since this one did. */
  report(report: NodeReport): Promise<boolean>
  /** Takes the name of a node, whoever had it. */
  enter(report: NodeReport): Promise<void>
  leave(report: NodeReport): Promise<void>
  read(): Promise<FleetRows>
  servers(): Promise<FleetServers>
  /** Wishes an account to a node; undefined: to any. */
  wish(account: string, node: string | undefined): Promise<void>
  /** Drains the process that has this node's name now, or ends that; false: there is no such node. */
  drain(node: string, isDraining: boolean): Promise<boolean>
  close(): Promise<void>
}

/** Longest time of a request, ms. */
const REQUEST_MS = 3_000

/** A number of our own for the lock under which the tables are made: "flet" in ASCII. */
const MAKING_LOCK = 0x666c6574

const isMade = "SELECT to_regclass('perpd_fleet_wish') IS NOT NULL AS is_made"
const make = `SELECT pg_advisory_xact_lock(${MAKING_LOCK});
  CREATE TABLE IF NOT EXISTS perpd_fleet_node (
    cluster text NOT NULL, node text NOT NULL, process text NOT NULL, beat bigint NOT NULL, at timestamptz NOT NULL,
    report text NOT NULL, drained_process text NOT NULL DEFAULT '', PRIMARY KEY (cluster, node)
  ) WITH (fillfactor = 50);
  CREATE TABLE IF NOT EXISTS perpd_fleet_wish (
    cluster text NOT NULL, account text NOT NULL, node text NOT NULL, PRIMARY KEY (cluster, account)
  );`
const enter = `INSERT INTO perpd_fleet_node (cluster, node, process, beat, at, report) VALUES ($1, $2, $3, 0, clock_timestamp(), $4)
  ON CONFLICT (cluster, node) DO UPDATE SET process = EXCLUDED.process, beat = perpd_fleet_node.beat + 1,
    at = EXCLUDED.at, report = EXCLUDED.report`
const report = `UPDATE perpd_fleet_node SET beat = beat + 1, at = clock_timestamp(), report = $4
  WHERE cluster = $1 AND node = $2 AND process = $3`
const leave = 'DELETE FROM perpd_fleet_node WHERE cluster = $1 AND node = $2 AND process = $3'
const readNodes = `SELECT node, process, beat, report, drained_process = process AS is_draining,
  (extract(epoch FROM clock_timestamp() - at) * 1000)::bigint AS age_ms
  FROM perpd_fleet_node WHERE cluster = $1 ORDER BY node`
const readWishes = 'SELECT account, node FROM perpd_fleet_wish WHERE cluster = $1'
const readHeads = `SELECT account, epoch, split_part(holder, ' ', 1) AS holder, since_ms, seq FROM perpd_head
  WHERE left(account, length($1)) = $1 ORDER BY account`
const wish = `INSERT INTO perpd_fleet_wish (cluster, account, node) VALUES ($1, $2, $3)
  ON CONFLICT (cluster, account) DO UPDATE SET node = EXCLUDED.node`
const unwish = 'DELETE FROM perpd_fleet_wish WHERE cluster = $1 AND account = $2'
const drain = `UPDATE perpd_fleet_node SET drained_process = CASE WHEN $3::boolean THEN process ELSE '' END
  WHERE cluster = $1 AND node = $2`

/** Opens a fleet's rows; nothing is connected before the first request. */
export function openFleetTable({ url, needsStandby, cluster: name, rows }: FleetPlace): FleetTable {
  // The same words with another profile are another fleet.
  const cluster = `${rows}/${name}`
  const prefix = `${rows}.`
  const client = createPostgresClient({
    ...{ url, needsStandby, requestMs: REQUEST_MS, seen: { timeline: 0 } },
    name: postgresName({ url, account: cluster }),
  })
  const rowsOf = async (text: string, values: readonly unknown[]) => (await client.query(text, values)).rows
  return {
    async prepare() {
      const [journals] = await rowsOf(readIsMade, [])
      if (journals?.is_made !== true) await client.query(createStatements, [])
      const [made] = await rowsOf(isMade, [])
      if (made?.is_made !== true) await client.query(make, [])
    },
    report: async (own) => (await client.query(report, valuesOf(cluster, own))).count === 1,
    async enter(own) {
      await client.query(enter, valuesOf(cluster, own))
    },
    async leave({ node, process }) {
      await client.query(leave, [cluster, node, process])
    },
    async read() {
      const nodes = await rowsOf(readNodes, [cluster])
      const wishes = await rowsOf(readWishes, [cluster])
      const heads = await headsOf(client, prefix)
      return {
        nodes: nodes.map(nodeOf),
        wishes: new Map(wishes.map((row) => [String(row.account), String(row.node)])),
        heads,
      }
    },
    async servers() {
      const [row] = await rowsOf(readReplication, [])
      return { standbys: Number(row?.standbys ?? 0), ...defined({ lagBytes: numberIn(row?.lag_bytes) }) }
    },
    async wish(account, node) {
      await client.query(node === undefined ? unwish : wish, [
        cluster,
        account,
        ...(node === undefined ? [] : [node]),
      ])
    },
    drain: async (node, isDraining) => (await client.query(drain, [cluster, node, isDraining])).count === 1,
    close: () => client.close(),
  }
}

function valuesOf(cluster: string, { node, process, ...report }: NodeReport): readonly unknown[] {
  return [cluster, node, process, JSON.stringify(report)]
}

async function headsOf(client: PostgresClient, prefix: string): Promise<readonly HeadRow[]> {
  const { rows } = await client.query(readHeads, [prefix])
  return rows.map((row) => ({
    account: String(row.account).slice(prefix.length),
    epoch: Number(row.epoch),
    holder: String(row.holder),
    records: Number(row.seq),
    ...defined({ sinceMs: numberIn(row.since_ms) }),
  }))
}

function numberIn(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

function nodeOf(row: Row): NodeRow {
  const { sinceMs, lists, can, holds, waits } = JSON.parse(String(row.report)) as Omit<
    NodeReport,
    'node' | 'process'
  >
  return {
    ...{ node: String(row.node), process: String(row.process), can, holds, waits },
    ...{ beat: Number(row.beat), ageMs: Number(row.age_ms), isDraining: row.is_draining === true },
    ...defined({ sinceMs, lists }),
  }
}
