/**
 * Deliberate faults in the form of the venue's responses: forms that the documents leave open, old responses, rows without content. Off by default.
 */

/** Switches over the form of answers. */
export interface AnswerFaults {
  /** Oracle hosts, as `oracle/0`, that stand still: 200, with prices and `updatedAt` of `oldOracleSeconds` ago. */
  oldOracles: string[]
  /** Age of what `oldOracles` answer, seconds. */
  oldOracleSeconds: number
  /**
   * Lists with a malformed row: a route, as `/prices/tickers`, `/positions` or `/orders`; the first row, or after a space a text
   * that one of the row's fields has, as `/prices/tickers ETH`.
   */
  malformedRows: string[]
  /** `word`: the row's first amount is a word. `missing`: it is not there. `null`: the row itself is null. */
  malformedAs: 'word' | 'missing' | 'null'
  /** Routes of the application, `*` for any text, whose amounts are written `{ "type": "bigint", "value": "1" }`. */
  bigintObjects: string[]
  /** `task-id-only`: `/relay/submit` answers `{ "taskId": ... }`, all that is documented (docs/reference/api-coverage.md A11). */
  relaySubmitAnswer: 'whole' | 'task-id-only'
  /**
   * `/relay/status` without the task id, with another one, with `revertData` that is empty or half a byte short, or with an
   * empty `txHash`.
   */
  relayStatusAnswer:
    | 'whole'
    | 'no-task-id'
    | 'other-task-id'
    | 'empty-revert-data'
    | 'odd-revert-data'
    | 'empty-tx-hash'
  /** Milliseconds after an accepted submission in which `/relay/status` answers 404. */
  relayStatusLagMs: number
  /** Code of a 400 that every prepare answers until this is changed; empty = none. */
  prepareRefuses: string
}

/** Answers as they should be. */
export function noAnswerFaults(): AnswerFaults {
  return {
    oldOracles: [],
    oldOracleSeconds: 600,
    malformedRows: [],
    malformedAs: 'word',
    bigintObjects: [],
    relaySubmitAnswer: 'whole',
    relayStatusAnswer: 'whole',
    relayStatusLagMs: 0,
    prepareRefuses: '',
  }
}

/** Words that the switches with words take. */
export const answerFaultWords = {
  malformedAs: ['word', 'missing', 'null'],
  relaySubmitAnswer: ['whole', 'task-id-only'],
  relayStatusAnswer: [
    'whole',
    'no-task-id',
    'other-task-id',
    'empty-revert-data',
    'odd-revert-data',
    'empty-tx-hash',
  ],
} as const
