/** Requests to a venue in the same process, and its answers. */
import type { Fetch, FetchAnswer } from '../../api/transport/route.ts'

/** An answer of a venue in the same process. */
export interface LabAnswer extends FetchAnswer {
  /** The JSON of the answer as the venue made it, not to be changed; absent where it was made as a text. */
  readonly value?: unknown
}

/** Sends a request to the venue. */
export type LabFetch = (...request: Parameters<Fetch>) => Promise<LabAnswer>
