/** Watches whether the standbys of the journal's server wait with each commit. */
import type { Timer } from '../../base/clock.ts'
import type { Emit } from '../../domain/event.ts'
import type { Journal } from '../../journal/journal.ts'

/** Time between two looks, ms. */
const LOOK_MS = 10_000

/** Reports asynchronous standbys, and their end, until the signal aborts. A server without any standby cannot fail over, and is not reported. */
export async function watchReplication(parts: {
  readonly journal: { readonly server?: Journal['server'] }
  readonly clock: Timer
  readonly emit: Emit
  readonly signal: AbortSignal
}): Promise<void> {
  const { journal, clock, emit, signal } = parts
  let wasSafe = true
  while (journal.server !== undefined && !signal.aborted) {
    const { replication } = journal.server()
    if (replication !== undefined) {
      const { standbys, isSynchronous } = replication
      const isSafe = isSynchronous || standbys === 0
      if (isSafe !== wasSafe) emit({ type: 'journal.replication', isSynchronous: isSafe, standbys })
      wasSafe = isSafe
    }
    await clock.sleep(LOOK_MS, signal)
  }
}
