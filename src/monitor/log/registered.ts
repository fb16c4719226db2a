/** Facts about an event before it happens: the fields of its line, its levels, and its meaning. */
import type { Level } from './line.ts'

/** An entry of the register of events. */
export interface RegisteredEvent<L extends Level = Level> {
  /** Levels that its line has before what repeats is thinned out. */
  readonly levels: readonly L[]
  /** A sentence for `docs/reference/events.md`: when it happens. */
  readonly meaning: string
  /** Names of the fields that its line may have besides those of every line. */
  readonly fields: readonly string[]
}

/** An entry. */
export function registered<const L extends Level>(
  levels: readonly L[],
  meaning: string,
  fields: readonly string[] = [],
): RegisteredEvent<L> {
  return { levels, meaning, fields }
}

/** Fields of a line about an order. */
export const orderFieldNames: readonly string[] = [
  'intent_id',
  'strategy',
  'market',
  'direction',
  'kind',
  'size_delta_usd',
]

/** Fields of an order's newest attempt. */
export const attemptFieldNames: readonly string[] = [
  'host',
  'request_id',
  'digest',
  'execution_fee',
  'whole_fee',
  'fee_estimate',
  'task_id',
  'trace_id',
]
