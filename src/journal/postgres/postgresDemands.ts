/** Demands that a server must meet for an acknowledged commit to be durable, asked on every new connection: a failover or a pooler may change it unseen. */
import type { JournalFaultError } from '../journal.ts'
import { journalFault } from '../journalFaults.ts'

/** The oldest version that is used. */
const LEAST_VERSION = 140_000

/** The answer of a server. */
export interface ServerFacts {
  readonly version: number
  readonly isStandby: boolean
  readonly isReadOnly: boolean
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly synchronousStandbys: string
  /** Standby servers that are connected and for which a commit waits. One whose state this user may not see counts: nothing says that it is none. */
  readonly followers: number
  readonly encoding: string
  /** True by TLS, and through a socket of this machine. */
  readonly isEncrypted: boolean
  /** The text that was set in the statement before; another one was set by another session. */
  readonly mark: string
  /** History of the server's log: grows by one with every failover. Undefined of a standby. */
  readonly timeline: number | undefined
}

/** Demands of a journal. */
export interface ServerDemands {
  /** A commit must have reached a second server. */
  readonly needsStandby: boolean
  /** It must also be connected now. A daemon that runs does not ask for this: after a failover its commits wait for the next one. */
  readonly needsFollower: boolean
  /** The text that was set. */
  readonly mark: string
  /** The newest timeline that was seen. */
  readonly timeline: number
}

/** The question; $1 is nothing: settings of the session count. */
export const askFacts = `SELECT current_setting('server_version_num')::integer AS version, pg_is_in_recovery() AS is_standby,
  current_setting('transaction_read_only') = 'on' AS is_read_only, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('synchronous_standby_names') AS synchronous_standbys,
  (SELECT count(*)::integer FROM pg_stat_replication WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum')) AS followers, current_setting('server_encoding') AS encoding,
  inet_client_addr() IS NULL OR inet_client_addr() <<= '127.0.0.0/8' OR inet_client_addr() = '::1'
    OR coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted,
  coalesce(current_setting('perpd.session', true), '') AS mark,
  CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer END AS timeline`

interface Refusal {
  readonly code: string
  readonly sentence: string
  readonly remedy: string
}

/** Returns the first demand that is not met, as a fault with its remedy; undefined when all are. */
export function refusalOf(
  name: string,
  facts: ServerFacts,
  demands: ServerDemands,
): JournalFaultError | undefined {
  const found = refusal(facts, demands)
  if (found === undefined) return undefined
  const { code, sentence, remedy } = found
  return journalFault(code, name, sentence, `Nothing was written. ${remedy}`, {
    facts: { version: facts.version },
  })
}

/** Returns how many standby servers a commit waits for, by the text of `synchronous_standby_names`: names alone are those of one. */
function standbysAwaited(names: string): number {
  const [, count = '1'] = /^\s*(?:(?:first|any)\s+)?(\d+)\s*\(/i.exec(names) ?? []
  return Number(count)
}

function refusal(
  facts: ServerFacts,
  { needsStandby, needsFollower, mark, timeline }: ServerDemands,
): Refusal | undefined {
  const notDurable = (sentence: string, remedy: string) => ({ code: 'JOURNAL_NOT_DURABLE', sentence, remedy })
  const unfit = (sentence: string, remedy: string) => ({ code: 'JOURNAL_SERVER_UNFIT', sentence, remedy })
  const standsBy = (sentence: string, remedy: string) => ({
    code: 'JOURNAL_SERVER_STANDS_BY',
    sentence,
    remedy,
  })
  if (facts.version < LEAST_VERSION)
    return unfit('The server of the journal is older than PostgreSQL 14.', 'Upgrade it to 14 or later.')
  if (facts.isStandby)
    return standsBy(
      'The server of the journal is a standby, which takes no records.',
      'Name the primary in journal.url, or promote this server: SELECT pg_promote()',
    )
  if (facts.isReadOnly)
    return standsBy(
      'The server of the journal takes no records from this user: its transactions are read-only.',
      'ALTER ROLE ... SET default_transaction_read_only = off',
    )
  if (facts.timeline !== undefined && facts.timeline < timeline)
    return standsBy(
      'The server of the journal is one from before a failover: another has newer records.',
      'Stop it, and bring it back as a standby of the new primary (pg_rewind).',
    )
  if (facts.fsync !== 'on')
    return notDurable(
      'The server of the journal does not flush its log: a power cut would take acknowledged records.',
      'ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf(). A database that ran without it may be damaged: pg_amcheck',
    )
  if (facts.fullPageWrites !== 'on')
    return notDurable(
      'The server of the journal does not protect pages against torn writes.',
      'ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf()',
    )
  if (facts.mark !== mark)
    return unfit(
      'What stands before the server of the journal gives each statement another session, as a pooler of transactions does.',
      'Connect to the server itself, or to a pooler of sessions (pool_mode = session).',
    )
  if (facts.synchronousCommit !== 'on' && facts.synchronousCommit !== 'remote_apply')
    return notDurable(
      'The server of the journal answers before a commit is durable.',
      'Let perpd set synchronous_commit for its session: nothing may set it after the connection was made.',
    )
  if (needsStandby && facts.synchronousStandbys.trim() === '')
    return notDurable(
      'The server of the journal has no synchronous standby: a failover would lose acknowledged records.',
      "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (...)'; SELECT pg_reload_conf(). Or set journal.synchronousStandby to false.",
    )
  const demanded = standbysAwaited(facts.synchronousStandbys)
  if (needsStandby && needsFollower && facts.followers < demanded) {
    const servers =
      demanded === 1 ? 'a synchronous standby server' : `${demanded} synchronous standby servers`
    const connected =
      facts.followers === 0 ? 'none is' : facts.followers === 1 ? 'one is' : `${facts.followers} are`
    return {
      code: 'JOURNAL_STANDBY_MISSING',
      sentence: `The server of the journal waits for ${servers} (${facts.synchronousStandbys}), and ${connected} connected: no commit would be acknowledged.`,
      remedy:
        'Start the standby server. If it runs: its application_name in primary_conninfo must be one of these names, and SELECT application_name, state, sync_state FROM pg_stat_replication must show it streaming.',
    }
  }
  if (facts.encoding !== 'UTF8')
    return unfit('The database of the journal is not in UTF-8.', "CREATE DATABASE ... ENCODING 'UTF8'")
  return undefined
}
