/** Commands that an operator may give, and their answers. */
import type { DiscrepancyEnd } from '../../domain/account/accountRecord.ts'
import type { TradingState } from '../../domain/account/limits.ts'
import type { CommandChannel, TradingScope } from '../../domain/account/tradingState.ts'
import type { LogComponent, LogLevel } from '../../domain/logLevels.ts'
import type { ManualAnswer } from './manualAnswers.ts'
import type { ManualCommand } from './manualCommand.ts'
import type { TaskCommand } from './taskCommand.ts'

/** Changes one field in the file of a strategy, and takes it over. A preview changes nothing. */
export interface SetFieldCommand {
  readonly type: 'set-field'
  readonly strategy: string
  /** Dotted: `params.fastCandles`. */
  readonly field: string
  /** As it is written in the file. */
  readonly value: string
  /** Written value that the requester expects in the file: another value is not overwritten. Absent: any value. */
  readonly was?: string
  /** True if looser limits take effect too. */
  readonly isConfirmed: boolean
  readonly isPreview?: boolean
}

/** Makes one limit of the account tighter, at once and until a restart. A preview changes nothing. */
export interface TightenCommand {
  readonly type: 'tighten'
  /** Its name under `risk`, or the code's: `maxLeverage`. */
  readonly limit: string
  /** As it is written under `risk`: `2500` dollars, `2.5` times, `300` basis points. */
  readonly value: string
  readonly isPreview?: boolean
}

/**
 * Halts, and cancels orders that add risk; closes positions too if requested, and cancels exits of positions if requested. A preview changes nothing.
 */
export interface KillCommand {
  readonly type: 'kill'
  readonly close: boolean
  readonly exits?: true
  readonly isPreview?: true
}

/** A command. */
export type OperatorCommand =
  | {
      readonly type: 'trading'
      readonly scope: TradingScope
      readonly state: TradingState
      readonly reason: string
    }
  | KillCommand
  /** Reads the configured limits anew; the looser ones take effect only when it is confirmed. A preview changes nothing. */
  | { readonly type: 'limits'; readonly isConfirmed: boolean; readonly isPreview?: boolean }
  /** `discrepancyId` and `intentId`: whole, or the first characters of one. */
  | {
      readonly type: 'discrepancy'
      readonly discrepancyId: string
      readonly as: Exclude<DiscrepancyEnd, 'gone'>
    }
  /** `market`: its symbol, or its market token. */
  | { readonly type: 'market'; readonly market: string }
  | { readonly type: 'unwind'; readonly intentId: string; readonly reason: string }
  /** Resets a strategy: its memory is dropped, with the events it has not received yet. */
  | { readonly type: 'forget'; readonly strategy: string }
  /** Reads the strategy files anew; looser limits take effect only when confirmed. A preview changes nothing. */
  | SetFieldCommand
  | { readonly type: 'reload'; readonly isConfirmed: boolean; readonly isPreview?: boolean }
  /** Pauses one strategy, or resumes it. */
  | {
      readonly type: 'switch'
      readonly strategy: string
      readonly to: 'paused' | 'running'
      readonly reason: string
    }
  /** Log threshold: `level` of one component, or of all components without a separate level. */
  | { readonly type: 'log'; readonly component?: LogComponent; readonly level: LogLevel }
  | TightenCommand
  | ManualCommand
  | TaskCommand
  | {
      readonly type: 'resolve'
      readonly intentId: string
      readonly as: 'dead' | 'executed' | 'cancelled'
    }

/** Author of a command, and its channel. */
export interface Commander {
  readonly by: string
  readonly via: CommandChannel
}

/** Outcome of a command: a sentence, or a refusal with a code. For an order by hand also its id and quote. */
export type OperatorAnswer = ManualAnswer
