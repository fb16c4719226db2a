/** Seeds told by their transcripts: one line for each, so that two versions of the source can be compared with `diff`. */
import type { TierName } from './seeds.ts'
import { runSeed } from './tiers.ts'
import { createTranscript } from './transcript.ts'
import type { Violation } from './truth.ts'

/** What was transcribed of one seed. */
export interface Transcribed {
  /** `tier seed sha256` and how many lines of each sort the transcript has. */
  readonly line: string
  readonly violation: Violation | undefined
}

/** Runs a seed; `onLine` is told each line of its transcript. */
export async function transcribe(
  tier: TierName,
  seed: number,
  onLine?: (line: string) => void,
): Promise<Transcribed> {
  const transcript = createTranscript(onLine)
  const { violation } = await runSeed(tier, seed, { transcript })
  const { requests, calls, records, signatures } = transcript.counts
  const counts = `requests=${requests} calls=${calls} records=${records} signatures=${signatures}`
  return { line: `${tier} ${seed} ${transcript.sha256()} ${counts}`, violation }
}
