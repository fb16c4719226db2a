/** The work on a store that no order may wait for: when it is due, and what waits for a pause. */

/** When maintenance is due. */
export interface Maintenance {
  /** Records after which a new snapshot is kept, so that the next start stays short. */
  readonly snapshotEveryRecords: number
  /** Commits after which a pause is used for it. */
  readonly checkpointAfterCommits: number
  /** Commits after which it waits for no pause. */
  readonly checkpointAtLatestCommits: number
  /** Runs something after `ms`; the returned function takes it back. What waits does not keep the process alive. */
  readonly later: (ms: number, run: () => void) => () => void
}

/** A pause of this length after a commit is taken for it, ms. */
const PAUSE_MS = 50

/** Records after which the next start would be slow enough to be worth a new snapshot. */
const SNAPSHOT_EVERY = 10_000

/** Maintenance of a daemon's journal. */
export const defaultMaintenance: Maintenance = {
  snapshotEveryRecords: SNAPSHOT_EVERY,
  checkpointAfterCommits: 100,
  checkpointAtLatestCommits: 200,
  later: (ms, run) => {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** Counts commits, and has the work done in the pause after enough of them. */
export interface MaintenancePlan {
  committed(): void
  /** Says that it waits for no pause any more: it is done before the next commit. */
  isOverdue(): boolean
  /** It was done. */
  made(): void
  /** It is not done any more. */
  cancel(): void
}

/** A plan by which `work` is called; it must not throw. */
export function planMaintenance(maintenance: Maintenance, work: () => void): MaintenancePlan {
  let commits = 0
  let cancel = () => {}
  return {
    committed() {
      commits += 1
      if (commits < maintenance.checkpointAfterCommits) return
      cancel()
      const pauseMs = commits < maintenance.checkpointAtLatestCommits ? PAUSE_MS : 0
      cancel = maintenance.later(pauseMs, work)
    },
    isOverdue: () => commits >= maintenance.checkpointAtLatestCommits,
    made() {
      cancel()
      commits = 0
    },
    cancel: () => cancel(),
  }
}
