/** Words on the database of a journal: who holds it, its standbys, and a perpd that waits for it. */
import { isoTime } from '../../base/clock.ts'
import type { StandbyStatus } from '../../control/standbyRoutes.ts'
import type { JournalServer } from '../../domain/journalServer.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'
import { counted, span } from '../../monitor/text.ts'
import { columns } from './table.ts'

/** The status of a perpd that waits for its journal, in words. */
export function standbyText({
  version,
  profile,
  chain,
  nowMs,
  startedAtMs,
  reason,
  journal,
}: StandbyStatus): string {
  return columns([
    ['perpd', `${version}, profile ${profile} on ${chain}, up ${span(nowMs - startedAtMs)}`],
    ['state', reason],
    ['journal', journal.path],
  ])
}

/** Holder, epoch and standbys of the journal's server in words. */
export function serverText({ holder, sinceMs, epoch, replication }: Plain<JournalServer>): string {
  const since = sinceMs === undefined ? '' : ` since ${isoTime(sinceMs)}`
  return `held by ${holder}${since}, epoch ${epoch}; database: ${replicationText(replication)}`
}

/** The standbys of a database in words. */
function replicationText(replication: Plain<JournalServer>['replication']): string {
  if (replication === undefined) return 'its standby servers are not known'
  const { standbys, isSynchronous, lagBytes } = replication
  if (standbys === 0) return 'no standby server'
  const lag = lagBytes === undefined ? 'lag not visible (GRANT pg_monitor)' : `${lagBytes} bytes behind`
  const kind = isSynchronous ? 'synchronous' : 'ASYNCHRONOUS: a failover may lose records'
  return `${counted(standbys, 'standby server')}, ${kind}, ${lag}`
}
