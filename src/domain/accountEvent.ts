/** Events about the account, the facts of its markets, its approval, and the trading permission. */
import type { Address } from '../protocol/address.ts'
import type { Position } from '../protocol/position.ts'
import type { TokenAmount, Usd } from '../protocol/units.ts'
import type { Discrepancy, DiscrepancyEnd } from './accountRecords/accountRecord.ts'
import type { UnlistedSide } from './accountRecords/held.ts'
import type { Contradiction } from './accountRecords/marketEntry.ts'
import type { HaltReason, ReleasedBy, TradingScope } from './accountRecords/tradingState.ts'
import type { TradingState } from './limits/limits.ts'
import type { SubaccountReport } from './subaccountReport.ts'

/** An exit that a kill leaves at rest. */
export interface KeptExit {
  /** As the venue's page calls it: `stop-loss`. */
  readonly name: string
  /** USD per whole index token; null where it is not known. */
  readonly triggerPrice: Usd | null
  /** The most that it closes, USD. */
  readonly sizeUsd: Usd
}

/** A position that a kill leaves open, and its protection. */
export interface LeftPosition {
  /** Its market's symbol. */
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly sizeUsd: Usd
  readonly exits: readonly KeptExit[]
  /** The unprotected part: no stop-loss that can fire would close it, USD; 0: they close all. */
  readonly uncoveredUsd: Usd
}

/** The account, its markets, its approval, its limits. `type` is the stable dotted name of the log line. */
export type AccountEvent =
  | {
      readonly type: 'account.positions'
      readonly positions: readonly Position[]
      readonly symbols: Readonly<Record<string, string>>
      /** Positions that are held without a row that can be read. Absent: none. */
      readonly unlisted?: readonly UnlistedSide[]
    }
  /** A position was made by strategies that do not run; reported when that begins, at each start, and when it is over. */
  | {
      readonly type: 'account.unmanaged'
      readonly symbol: string
      readonly direction: 'long' | 'short'
      readonly sizeUsd: Usd
      readonly madeBy: readonly string[]
      /** Running instances that look at its market. */
      readonly seenBy: readonly string[]
      /** One of them runs again, or the position is gone. */
      readonly isOver?: true
    }
  /** Something on the account that the journal cannot explain; reported once. */
  | { readonly type: 'account.discrepancy'; readonly discrepancy: Discrepancy; readonly isPausing: boolean }
  /**
   * Discrepancies that are not written down yet: more than may be in a time, or the journal is short of room. 0: all are
   * again.
   */
  | {
      readonly type: 'account.discrepanciesDeferred'
      readonly held: number
      readonly isJournalShort: boolean
    }
  /** The books of a side do not match the journal's expectation of it: a mistake of perpd itself. */
  | {
      readonly type: 'account.booksDiffer'
      readonly marketToken: Address
      readonly direction: 'long' | 'short'
      readonly booksUsd: Usd
      readonly expectedUsd: Usd
      /** Index tokens, base units; absent where they agree. */
      readonly booksTokens?: TokenAmount
      readonly expectedTokens?: TokenAmount
    }
  /** They add up again. */
  | {
      readonly type: 'account.booksAgree'
      readonly marketToken: Address
      readonly direction: 'long' | 'short'
    }
  | {
      readonly type: 'account.discrepancySettled'
      readonly discrepancy: Discrepancy
      readonly as: DiscrepancyEnd
    }
  /** Hosts contradict the facts of markets and tokens: increases on these markets wait. */
  | {
      readonly type: 'market.contradicted'
      readonly contradictions: readonly Contradiction[]
      readonly symbols: readonly string[]
    }
  /** Contradictions ended: their hosts corrected the statement, or an operator (`by`) accepted them. */
  | {
      readonly type: 'market.settled'
      readonly contradictions: readonly Contradiction[]
      readonly symbols: readonly string[]
      readonly by?: string
    }
  /** The chain proved a market that is not shipped. */
  | { readonly type: 'market.proven'; readonly symbol: string; readonly marketToken: Address }
  /** An operator trusts a market that is not shipped. */
  | {
      readonly type: 'market.trusted'
      readonly symbol: string
      readonly marketToken: Address
      readonly by: string
    }
  /** A reading of the account's equity is far from the figure of the last minute; reported when that begins. */
  | { readonly type: 'account.equityJumped'; readonly readingUsd: Usd; readonly equityUsd: Usd }
  /** Money entered the account (positive) or left it, and no order explains it; `afterUsd`: its equity now. */
  | { readonly type: 'account.transferred'; readonly amountUsd: Usd; readonly afterUsd: Usd }
  /** Remainder of a subaccount's approval; emitted at every look. */
  | { readonly type: 'subaccount.read'; readonly report: SubaccountReport }
  /** A step of a kill: no order that adds risk rests any more, positions are being closed, progress has stopped, or it is over. */
  | {
      readonly type: 'kill.step'
      readonly step: 'cancelled' | 'done'
      /** True if it closes positions too. */
      readonly close: boolean
      /** Positions that it leaves, and the protection of each; none when it closes. */
      readonly stays: readonly LeftPosition[]
    }
  /** It is over, and the chain does not prove the end of its messages. `reason`: the missing proof, a clause. */
  | {
      readonly type: 'kill.step'
      readonly step: 'unproven'
      readonly close: boolean
      readonly stays: readonly LeftPosition[]
      readonly reason: string
    }
  | { readonly type: 'kill.step'; readonly step: 'abandoned' }
  | { readonly type: 'kill.step'; readonly step: 'closing'; readonly positions: number }
  | { readonly type: 'kill.step'; readonly step: 'stuck'; readonly reason: string }
  /** Limits were changed while perpd runs. */
  | { readonly type: 'limits.changed'; readonly statement: string; readonly by: string }
  /** The file of the approval cannot be used. */
  | { readonly type: 'subaccount.unread'; readonly reason: string }
  /** It can be used again, or is there no more. */
  | { readonly type: 'subaccount.fileRight' }
  /** The approval is about to end; reported when that begins, and every hour after. */
  | { readonly type: 'subaccount.low'; readonly report: SubaccountReport; readonly secondsLeft: number }
  /** An approval that was low was renewed. */
  | { readonly type: 'subaccount.renewed'; readonly report: SubaccountReport }
  /** The renewal of the approval is in a file, for the owner to sign. `by`: who says how many actions are used. */
  | {
      readonly type: 'subaccount.renewal'
      readonly file: string
      readonly actions: number
      readonly usedActions: number
      readonly by: string
      readonly expiresAtSeconds: number
    }
  /** The account's claimable amounts were read: their worth, USD. */
  | { readonly type: 'claim.read'; readonly worthUsd: Usd }
  /** The calls that claim it are in a file, for the owner's wallet to send. `pairs`: of market and token. */
  | {
      readonly type: 'claim.prepared'
      readonly file: string
      readonly worthUsd: Usd
      readonly calls: number
      readonly pairs: number
    }
  /** All that the file named was claimed; it was removed. */
  | { readonly type: 'claim.over'; readonly file: string }
  /** A start has other limits than the run before it. */
  | { readonly type: 'limits.started'; readonly statement: string; readonly isLooser: boolean }
  /** A halt was set, changed its state or was lifted; `state` is the scope's state afterwards, by all its halts. */
  | {
      readonly type: 'trading.state'
      readonly scope: TradingScope
      readonly state: TradingState
      /** Cause of the halt that changed. */
      readonly cause: HaltReason
      /** True once that halt is gone; others of the scope may remain. */
      readonly isReleased?: true
      /** True if that halt ends with its cause: nobody lifts it. */
      readonly isPassing?: true
      /** The event that lifts the state of the scope; absent while it is active. */
      readonly releasedBy?: ReleasedBy
      readonly reason: string
    }
