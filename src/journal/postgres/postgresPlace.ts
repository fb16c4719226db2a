/** Where a journal in PostgreSQL is. Apart from what opens one: every command names the journal, and few open it. */
import { urlsOf } from '../../base/hostList.ts'
import { shownHost } from '../../base/networkAddress.ts'
import type { Secret } from '../../base/secret.ts'

/** A journal in a database. */
export interface PostgresJournal {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, or with a comma between several hosts: of those that answer the newest primary is used. */
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

/** The journal's name for messages: hosts, ports, database and account, nothing of the user. */
export function postgresName({ url, account }: { readonly url: Secret; readonly account: string }): string {
  const urls = urlsOf(url.reveal())
  const hosts = urls.map(({ host }) => shownHost(host)).join(',')
  return urls[0] === undefined ? `postgres:#${account}` : `postgres://${hosts}${urls[0].pathname}#${account}`
}
