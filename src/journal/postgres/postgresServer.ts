/** A journal's requests as statements of PostgreSQL. */
import { defined } from '../../base/defined.ts'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import type { SignEntry } from '../../domain/guardTable.ts'
import type { IntentKind } from '../../domain/order/intent.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import {
  type Head,
  OutcomeUnknown,
  type Right,
  type SharedServer,
  type StoredPart,
  type StoredRow,
} from '../fenced/sharedServer.ts'
import { newerFault } from '../journalFaults.ts'
import { appendValues } from './appendValues.ts'
import { createPostgresClient, type PostgresClient, type PostgresPlace, type Row } from './postgresClient.ts'
import * as sql from './postgresSchema.ts'

/** One connection as a journal's server; `account` names its rows. */
export function createPostgresServer(place: PostgresPlace, account: string): SharedServer {
  return createServerOf(createPostgresClient(place), place, account)
}

/** As `createPostgresServer`, over a connection that there is. */
export function createServerOf(
  client: PostgresClient,
  { name: place, needsStandby }: { readonly name: string; readonly needsStandby: boolean },
  account: string,
): SharedServer {
  async function head(): Promise<Head> {
    const { rows } = await client.query(sql.readHead, [account])
    return headOf(place, rows[0])
  }

  /** Runs a statement that tells by its one row whether it moved the head. */
  async function moves(text: string, values: readonly unknown[], name: string): Promise<boolean> {
    const { rows } = await client.query(text, values, name)
    return rows[0]?.moved === 1
  }

  return {
    name: place,
    head,
    async prepare() {
      const { rows } = await client.query(sql.readIsMade, [])
      if (rows[0]?.is_made !== true) await client.query(sql.createStatements, [])
      await client.query(sql.makeHead, [account])
      return await head()
    },
    async take(from, to) {
      const values = [account, from.epoch, from.holder, from.beat, to.epoch, to.holder, needsStandby]
      return (await client.query(sql.takeHead, values)).count === 1
    },
    async confirm({ epoch, holder }) {
      const { rows } = await client.query(sql.beatHead, [account, epoch, holder], 'perpd_beat')
      if (rows[0] !== undefined) return headOf(place, rows[0])
      const found = await head()
      if (found.epoch !== epoch || found.holder !== holder) return found
      // A read alone proves nothing durable.
      throw new OutcomeUnknown('The head of the journal changed while it was asked for.', {
        code: 'JOURNAL_UNSETTLED',
      })
    },
    async release({ epoch, holder }) {
      await client.query(sql.releaseHead, [account, epoch, holder])
    },
    append(right, at, records) {
      const end = records.at(-1) ?? at
      const values = [...atHead(account, right, at), end.seq, end.hash, ...appendValues(records)]
      return moves(sql.appendRecords, values, 'perpd_append')
    },
    keep(right, at, { head: text, part, fromSeq }, sums) {
      const values = [...atHead(account, right, at), sums.head, text, sums.part, part, fromSeq]
      return moves(sql.keepSnapshot, values, 'perpd_keep')
    },
    async snapshot() {
      const { rows } = await client.query(sql.readSnapshot, [account])
      const [first, ...parts] = rows
      if (first?.is_head !== true) return undefined
      return { head: partOf(first), parts: parts.map(partOf) }
    },
    async records(afterSeq, limit) {
      return (await client.query(sql.readRecords, [account, afterSeq, limit])).rows.map(rowOf)
    },
    async stories(intentIds) {
      return (await client.query(sql.readStories, [account, intentIds])).rows.map(rowOf)
    },
    async intentIds({ openOnly = false, strategy, limit }) {
      const values = [account, strategy ?? null, openOnly, limit ?? null]
      return (await client.query(sql.readIntentIds, values)).rows.map(({ intent_id }) => String(intent_id))
    },
    async endings(sinceMs) {
      return (await client.query(sql.readEndings, [account, sinceMs])).rows.map(endingOf)
    },
    async signed(sinceSeconds) {
      return (await client.query(sql.readSigned, [account, sinceSeconds])).rows.map(entryOf)
    },
    async replication() {
      const [row] = (await client.query(sql.readReplication, [])).rows
      const lag = row?.lag_bytes ?? undefined
      return {
        standbys: Number(row?.standbys ?? 0),
        isSynchronous: row?.is_synchronous === true,
        ...defined({ lagBytes: lag === undefined ? undefined : Math.max(0, Number(lag)) }),
      }
    },
    close: () => client.close(),
  }
}

function atHead(
  account: string,
  { epoch, holder }: Right,
  at: { readonly seq: number; readonly hash: string },
) {
  return [account, epoch, holder, at.seq, at.hash]
}

function headOf(name: string, row: Row | undefined): Head {
  const version = Number(row?.version)
  const sinceMs = row?.since_ms ?? null
  if (row !== undefined && version > sql.POSTGRES_SCHEMA_VERSION)
    throw newerFault(name, { version, readable: sql.POSTGRES_SCHEMA_VERSION })
  return {
    epoch: Number(row?.epoch ?? 0),
    holder: String(row?.holder ?? ''),
    beat: Number(row?.beat ?? 0),
    seq: Number(row?.seq ?? 0),
    hash: String(row?.hash ?? ''),
    ...defined({
      sinceMs: sinceMs === null ? undefined : Number(sinceMs),
      mayMissRecords: row?.may_miss === true ? true : undefined,
    }),
  }
}

function rowOf(row: Row): StoredRow {
  return {
    seq: Number(row.seq),
    intentId: String(row.intent_id),
    body: String(row.body),
    hash: String(row.hash),
    previousHash: row.previous_hash === null ? undefined : String(row.previous_hash),
  }
}

function partOf(row: Row): StoredPart {
  return {
    fromSeq: Number(row.from_seq),
    toSeq: Number(row.to_seq),
    sum: String(row.sum),
    body: String(row.body),
    recordHash: row.hash === null ? undefined : String(row.hash),
  }
}

function endingOf(row: Row): Ending {
  return {
    strategy: String(row.strategy),
    kind: row.kind as IntentKind,
    marketToken: row.market_token as Address,
    direction: row.direction as Direction,
    closedAtMs: Number(row.closed_at_ms),
    seq: Number(row.seq),
    cause: String(row.cause),
    executionFee: BigInt(String(row.execution_fee)),
    relayFee: BigInt(String(row.relay_fee)),
  }
}

function entryOf(row: Row): SignEntry {
  return {
    intentId: String(row.intent_id),
    attempt: Number(row.attempt),
    digest: row.digest as Hex,
    deadlineSeconds: Number(row.deadline_seconds),
    addsUsd: BigInt(String(row.adds_usd)),
    atSeconds: Number(row.at_seconds),
  }
}
