/**
 * Watches the remaining approval of a delegated key, and selects the approval that goes with each order.
 *
 * A signed approval goes with one order at a time until the chain knows it: the first that lands writes it and uses up its nonce, and any other that
 * carries it would revert. From then on the empty approval goes with all of them (docs/reference/api-coverage.md POST /subaccounts/approval/prepare).
 */

import { isoTime } from '../base/clock.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import { expectedOf } from '../domain/machine/expected.ts'
import {
  type Denial,
  type Intent,
  type IntentState,
  intentAddsRisk,
  isUnresolved,
  lastAttempt,
} from '../domain/order/intent.ts'
import type { SubaccountReport } from '../domain/subaccountReport.ts'
import type { Delegation } from '../execution/context/delegation.ts'
import type { HasApi, HasClock, HasEmit, HasJournal } from '../execution/context/executionParts.ts'
import type { Address } from '../protocol/address.ts'
import type { SubaccountApproval } from '../protocol/signing/subaccountApproval.ts'

/** Thresholds at which the approval counts as about to end, and the reserve for reductions. */
export interface SubaccountSettings {
  /** Number of actions beyond the need of closing from which a warning is given. */
  readonly warnActions: number
  /** Told from this long before the end on, seconds. */
  readonly warnSeconds: number
  /** Actions that no increase may take, beyond the need of closing. */
  readonly reserveActions: number
}

/** Open notices about the approval. */
export interface ToldApproval {
  /** Remainder when it was reported to be low, and whether it was reported to be gone. */
  readonly low?: { readonly left: bigint; readonly expiresAtSeconds: number; readonly isGone: boolean }
  /** True if its file could not be used. */
  readonly isUnread: boolean
}

/** Keeps that over a restart; neither throws. */
export interface ToldApprovalStore {
  read(): ToldApproval
  keep(told: ToldApproval): void
}

/** Dependencies of the watch. */
export interface SubaccountWatchContext extends HasApi, HasClock, HasEmit {
  /** The approval that changes nothing, for orders of a key that the chain knows already. */
  readonly empty: SubaccountApproval
  /** The account that approved. */
  readonly account: Address
  /** Address of the key that signs. */
  readonly subaccount: Address
  /** The approval that the owner signed, verified; read at every look, so that a renewal needs no restart. Throws BaseError. */
  readonly readApproval: () => SubaccountApproval | undefined
  /** Open intents that carry it, or wait to. */
  readonly journal: HasJournal['journal']
  readonly settings: SubaccountSettings
  /** Absent: notices are forgotten with the run. */
  readonly told?: ToldApprovalStore
}

/** The running watch. */
export interface SubaccountWatch extends Delegation {
  /** Reads the remaining approval. `neededActions`: actions needed to close everything open. Throws what reading throws. */
  check(neededActions: number): Promise<void>
  /** The owner's next approval nonce, as it was last read; undefined before the first look. */
  nextNonce(): bigint | undefined
  /** Undefined before the first look. */
  report(): SubaccountReport | undefined
  /** Returns the reason why an intent may not be signed for want of actions or time; undefined when there is none. */
  veto(intent: Intent): Denial | undefined
}

const lowAgainMs = 3_600_000

/** Makes a watch; nothing is signed before its first look. */
export function createSubaccountWatch(context: SubaccountWatchContext): SubaccountWatch {
  const { api, clock, empty, emit, account, subaccount, settings } = context
  const open = () => context.journal.openIntents()
  let known: (Omit<SubaccountReport, 'remainingActions'> & { readonly left: bigint }) | undefined
  /** Signed, and not on the chain yet. */
  let signed: SubaccountApproval | undefined
  /** The intent that carries it. */
  let carriedBy: string | undefined
  let nonce: bigint | undefined
  let lowToldMs: number | undefined
  /** Open notices about the approval; for a low one, the remainder at the last look. */
  let told: ToldApproval = context.told?.read() ?? { isUnread: false }

  function keep(next: ToldApproval): void {
    told = next
    context.told?.keep(next)
  }

  function report(): SubaccountReport | undefined {
    if (known === undefined) return undefined
    const { left, ...rest } = known
    const inFlight = open()
      .filter(isInFlight)
      .reduce((sum, { intent }) => sum + actionsOf(intent), 0)
    return { ...rest, remainingActions: Math.max(0, Number(left) - inFlight) }
  }

  /** A file that is wrong while the daemon runs must not blind the watch; at the start it ends the start. */
  function givenApproval(): SubaccountApproval | undefined {
    try {
      const given = context.readApproval()
      if (told.isUnread) {
        emit({ type: 'subaccount.fileRight' })
        keep({ ...told, isUnread: false })
      }
      return given
    } catch (error) {
      if (!(error instanceof BaseError) || known === undefined) throw error
      if (!told.isUnread) keep({ ...told, isUnread: true })
      emit({ type: 'subaccount.unread', reason: reasonOf(error) })
      return undefined
    }
  }

  function isLow({ remainingActions, neededActions }: SubaccountReport, secondsLeft: number): boolean {
    return remainingActions <= settings.warnActions + neededActions || secondsLeft <= settings.warnSeconds
  }

  /** Tells whether the approval has more left than before: it may also stop being low because less is needed. */
  function isRenewed(): boolean {
    if (told.low === undefined || known === undefined) return false
    return known.left > told.low.left || known.expiresAtSeconds > told.low.expiresAtSeconds
  }

  function lowNow({
    left,
    expiresAtSeconds,
    isActive,
    isApprovalWaiting,
  }: NonNullable<typeof known>): NonNullable<ToldApproval['low']> {
    const isGone = !isActive && !isApprovalWaiting
    return { left, expiresAtSeconds, isGone: isGone || told.low?.isGone === true }
  }

  function tell(current: SubaccountReport): void {
    emit({ type: 'subaccount.read', report: current })
    const secondsLeft = current.expiresAtSeconds - Math.floor(clock.now() / 1000)
    if (!isLow(current, secondsLeft)) {
      lowToldMs = undefined
      if (isRenewed()) {
        emit({ type: 'subaccount.renewed', report: current })
        keep({ isUnread: told.isUnread })
      }
      return
    }
    if (lowToldMs !== undefined && clock.monotonicMs() < lowToldMs + lowAgainMs) {
      if (known !== undefined) told = { ...told, low: lowNow(known) }
      return
    }
    lowToldMs = clock.monotonicMs()
    if (known !== undefined) keep({ ...told, low: lowNow(known) })
    emit({ type: 'subaccount.low', report: current, secondsLeft })
  }

  return {
    account,
    report,
    nextNonce: () => nonce,
    async check(neededActions) {
      // Read before the request: an intent that ends meanwhile may have landed after the answer was made.
      const isCarried = open().some(({ intent }) => intent.intentId === carriedBy)
      const query = { account, subaccountAddress: subaccount }
      const { value } = await api.getSubaccountStatus(query, { isFresh: true })
      const nowSeconds = BigInt(Math.floor(clock.now() / 1000))
      nonce = value.approvalNonce
      const given = givenApproval()
      const isUsable = given?.nonce === value.approvalNonce && given.deadline > nowSeconds
      signed = isUsable ? given : undefined
      if (!isCarried || signed === undefined) carriedBy = undefined
      const most = signed?.maxAllowedCount ?? (value.isActive ? value.maxAllowedCount : 0n)
      const left = most - value.currentActionsCount
      // Its end is reported at once, whenever the last warning was.
      if (known?.isActive === true && !value.isActive) lowToldMs = undefined
      known = {
        address: subaccount,
        isActive: value.isActive,
        isApprovalWaiting: signed !== undefined,
        neededActions,
        expiresAtSeconds: signed === undefined ? value.expiresAtSeconds : Number(signed.expiresAt),
        left: left > 0n ? left : 0n,
      }
      const current = report()
      if (current !== undefined) tell(current)
    },
    approvalFor({ intentId }) {
      if (known === undefined) return { waitsFor: "the subaccount's approval was not read yet" }
      if (signed === undefined) return empty
      const others = open().filter((state) => state.intent.intentId !== intentId)
      const isTaken = (carriedBy !== undefined && carriedBy !== intentId) || others.some(isInFlight)
      if (isTaken) {
        return known.isActive
          ? empty
          : { waitsFor: 'the first order carries the approval; the next waits until the chain knows it' }
      }
      carriedBy = intentId
      return signed
    },
    veto(intent) {
      const current = report()
      if (current === undefined) return undefined
      const { remainingActions, neededActions, expiresAtSeconds } = current
      const actions = actionsOf(intent)
      if (!current.isActive && !current.isApprovalWaiting) {
        return {
          code: 'SUBACCOUNT_SPENT',
          reason:
            'the delegated key is not approved on the chain, and no approval waits, so its messages cannot land: perpd subaccount approve',
        }
      }
      if (actions > remainingActions || expiresAtSeconds * 1000 <= clock.now()) {
        return {
          code: 'SUBACCOUNT_SPENT',
          reason: `the approval of the delegated key has ${remainingActions} actions left and ends at ${isoTime(expiresAtSeconds * 1000)}; this needs ${actions}: perpd subaccount approve`,
        }
      }
      const kept = neededActions + settings.reserveActions
      if (intentAddsRisk(intent) && actions + kept > remainingActions) {
        return {
          code: 'SUBACCOUNT_LOW',
          reason: `the approval of the delegated key has ${remainingActions} actions left; this needs ${actions}, and ${kept} are reserved for closing: perpd subaccount approve`,
        }
      }
      return undefined
    },
  }
}

/** Counts the actions that the chain charges for an intent's message: each create, update and cancel. */
function actionsOf(intent: Intent): number {
  const { orders, changes } = expectedOf(intent)
  return orders.length + changes.length
}

function isInFlight(state: IntentState): boolean {
  const attempt = lastAttempt(state)
  return attempt !== undefined && isUnresolved(attempt)
}
