/** The work on the journal's file that no order may wait for: when it is due, and what waits for a pause. */
import { SNAPSHOT_EVERY } from './journalSnapshot.ts'

/** When maintenance is due. */
export interface Maintenance {
  /** Records after which a new snapshot is kept, so that the next start stays short. */
  readonly snapshotEveryRecords: number
  /** Commits after which a pause is used for a checkpoint. */
  readonly checkpointAfterCommits: number
  /** Commits after which a checkpoint waits for no pause. */
  readonly checkpointAtLatestCommits: number
  /** Runs something after `ms`; the returned function takes it back. What waits does not keep the process alive. */
  readonly later: (ms: number, run: () => void) => () => void
}

/** A pause of this length after a commit is taken for a checkpoint, ms. */
const CHECKPOINT_PAUSE_MS = 50

/** What a daemon does. */
export const defaultMaintenance: Maintenance = {
  snapshotEveryRecords: SNAPSHOT_EVERY,
  checkpointAfterCommits: 100,
  checkpointAtLatestCommits: 200,
  later: (ms, run) => {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** Counts commits, and has a checkpoint made in the pause after enough of them. */
export interface CheckpointPlan {
  committed(): void
  /** A checkpoint was made. */
  made(): void
  /** None is made any more. */
  cancel(): void
}

/** A plan by which `checkpoint` is called; it must not throw. */
export function planCheckpoints(maintenance: Maintenance, checkpoint: () => void): CheckpointPlan {
  let commits = 0
  let cancel = () => {}
  return {
    committed() {
      commits += 1
      if (commits < maintenance.checkpointAfterCommits) return
      cancel()
      const pauseMs = commits < maintenance.checkpointAtLatestCommits ? CHECKPOINT_PAUSE_MS : 0
      cancel = maintenance.later(pauseMs, checkpoint)
    },
    made() {
      commits = 0
    },
    cancel: () => cancel(),
  }
}
