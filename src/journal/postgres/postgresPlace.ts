/** Where a journal in PostgreSQL is. Apart from what opens one: every command names the journal, and few open it. */
import { shownHost } from '../../base/networkAddress.ts'
import type { Secret } from '../../base/secret.ts'

/** A journal in a database. */
export interface PostgresJournal {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE` */
  readonly url: Secret
  /** Name of the account's rows. */
  readonly account: string
  /** A commit must have reached a second server. */
  readonly needsStandby: boolean
  /** Longest time in which a signature may land after it was made, ms: what a replaced server may have lost is waited for so long. */
  readonly signatureLivesMs: number
  /** Longest time of a request, ms; 3 s when absent. */
  readonly requestMs?: number
}

/** The journal's name for messages: host, port, database and account, nothing of the user. */
export function postgresName({ url, account }: PostgresJournal): string {
  const parsed = URL.parse(url.reveal())
  return parsed === null
    ? `postgres:#${account}`
    : `postgres://${shownHost(parsed.host)}${parsed.pathname}#${account}`
}
