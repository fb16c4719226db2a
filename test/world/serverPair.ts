/** Two PostgreSQL servers of which one follows the other, at addresses that stay through failovers; runs of events break them. */
import { type Cluster, demandStandby, hostsOf, startCluster, startStandby } from '../support/postgres.ts'

/** Events of which one is a failover, the middle one. */
const EVENTS_PER_FAILOVER = 100

/** A primary and its synchronous standby. */
export interface ServerPair {
  /** Names both hosts; whoever connects looks for the primary. */
  readonly url: string
  /** Runs SQL at the primary; gives what psql prints, without headings. */
  sql(text: string): string
  /** Restarts one of them at once: `fast` asks its sessions to end, `immediate` is as a crash. */
  restart(mode: 'fast' | 'immediate', which?: 'primary' | 'standby'): void
  /** The primary dies; its standby takes over, and the old one is made its standby anew, at the same address. `round` is another one each time. */
  failover(round: number): Promise<void>
  /** Ends both and removes their files. */
  remove(): void
}

/** Tells whether an event is a failover: one of each hundred, the middle one, and of fewer their middle. */
export const isFailoverAt = (event: number, events: number): boolean =>
  event % EVENTS_PER_FAILOVER === Math.min(events, EVENTS_PER_FAILOVER) >> 1

/** Makes and starts both. `settings` are lines of their configuration. */
export async function startServerPair(settings = ''): Promise<ServerPair> {
  let primary: Cluster = await startCluster(settings)
  const first = primary
  let standby = await startStandby(primary)
  return {
    url: `${hostsOf([primary, standby])}?target_session_attrs=read-write`,
    sql: (text) => primary.sql(text),
    restart(mode, which = 'primary') {
      const server = which === 'primary' ? primary : standby
      server.stop(mode)
      server.start()
    },
    async failover(round) {
      const [old, name] = [primary, `standby${round}`]
      await old.kill()
      demandStandby(standby, name)
      standby.promote()
      primary = standby
      // The folder of the first one is that of all clusters.
      standby = await startStandby(primary, true, name, old.port)
      if (old !== first) old.remove()
    },
    remove() {
      for (const cluster of [standby, primary, first]) cluster.remove()
    },
  }
}
