/**
 * Unwinds orders that nobody wants any more if they land (`domain/account/unwindState.ts`): cancels what of them rests, and
 * closes what they opened, over restarts too. What it makes walks the same road as any order, under the operator's name,
 * and may only reduce; each decision has a key of its own, so that it is taken once however often this begins again.
 */
import { BaseError, reasonOf } from '../../base/errors.ts'
import { sideKeyOf } from '../../domain/account/accountRecord.ts'
import { type Opened, UNWIND_TRIES, unwindKeyOf, unwindStepOf } from '../../domain/account/unwindPlan.ts'
import type { UnwindOutcome, UnwindState } from '../../domain/account/unwindState.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial, IntentState } from '../../domain/order/intent.ts'
import { positionsOn, type Snapshot } from '../../domain/snapshot.ts'
import { accountOf, type ExecutionContext } from '../../execution/context/executionContext.ts'
import type { OrderManager } from '../../execution/orderManager.ts'
import { sameHex } from '../../protocol/address.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import { isOnMarket } from '../../protocol/position.ts'
import { formatDollars, minOf } from '../../protocol/units.ts'
import type { Holdings } from './holdings.ts'
import { intentIdOf } from './ids.ts'
import { OPERATOR, type Trading } from './tradingHalts.ts'

/** An order that is to be unwound if it lands, and what keeps that from going on. */
export interface UnwindReport extends UnwindState {
  readonly problem?: string
}

/** The worker. */
export interface Unwinder {
  /** Those that are not over, oldest first. */
  open(): readonly UnwindReport[]
  /**
   * Takes a decision; resolves when it is durable. `strategy`: who decisions, when it is a strategy, which may decision
   * it for its own orders alone. Refuses with ORDER_NOT_FOUND and ORDER_NOT_OWN. Asked for twice it stays as it is.
   */
  request(
    intentId: string,
    wish: { readonly by: string; readonly reason: string; readonly strategy?: string },
  ): Promise<Denial | undefined>
  /** Works while one is open. Resolves when the engine ends. */
  run(signal: AbortSignal): Promise<void>
}

/** What it is handed of the engine. */
export interface UnwindContext
  extends Pick<ExecutionContext, 'clock' | 'emit' | 'journal' | 'signer' | 'delegation'> {
  readonly orderManager: OrderManager
  readonly trading: Trading
  readonly holdings: Pick<Holdings, 'journal'>
  /** Reads a snapshot with these markets and every market with a position. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Hands a decision of the operator to admission, and the intent to the road. */
  readonly admit: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Promise<Denial | undefined>
  /** Whether a snapshot's positions hold what the intent filled. */
  readonly isSeen: (state: IntentState, snapshot: Snapshot) => boolean
}

const pollMs = 1_000
/** Most orders that one message cancels. */
const cancelMost = 20
/** Refusals that only say "not yet". */
const quiet: ReadonlySet<string> = new Set(['REDUCE_IN_FLIGHT', 'ORDER_CHANGING', 'STOPPING'])

/** Where the tries of one thing stand. */
type Try =
  | { readonly kind: 'next'; readonly decisionKey: string }
  | { readonly kind: 'running' }
  | { readonly kind: 'done' }
  | { readonly kind: 'spent' }

/** A worker over the engine's parts. */
export function createUnwinder(context: UnwindContext): Unwinder {
  const { clock, emit, journal, orderManager, trading } = context
  const { accountJournal } = trading
  const account = accountOf(context)
  const problems = new Map<string, string>()
  /** Sides whose position was seen to be gone, by the key of their first try: what is opened there later is another's. */
  const gone = new Set<string>()
  let wake = (): void => undefined

  const wanted = (): readonly UnwindState[] =>
    [...(accountJournal.state().flattens?.values() ?? [])].filter(({ endedAtMs }) => endedAtMs === undefined)

  async function end(
    { intentId, by }: UnwindState,
    outcome: UnwindOutcome,
    statement: string,
  ): Promise<void> {
    await accountJournal.write({ kind: 'flatten.ended', of: intentId, outcome, statement })
    problems.delete(intentId)
    emit({ type: 'unwind.ended', intentId, by, outcome, statement })
  }

  function tell(intentId: string, problem: string | undefined): void {
    if (problem === undefined) {
      problems.delete(intentId)
      return
    }
    if (problems.get(intentId) === problem) return
    problems.set(intentId, problem)
    emit({ type: 'unwind.waits', intentId, reason: problem })
  }

  /** `isDone`: whether an ending leaves nothing to try again. */
  async function nextTry(
    what: 'flatten' | 'flatten-cancel',
    intentId: string,
    part: number,
    isDone: (made: IntentState) => boolean,
  ): Promise<Try> {
    for (let tryNo = 1; tryNo <= UNWIND_TRIES; tryNo += 1) {
      const decisionKey = unwindKeyOf(what, intentId, part, tryNo)
      const made = await journal.intent(intentIdOf(account, OPERATOR, decisionKey))
      if (made === undefined) return { kind: 'next', decisionKey }
      if (made.closing === undefined) return { kind: 'running' }
      if (isDone(made)) return { kind: 'done' }
    }
    return { kind: 'spent' }
  }

  async function make(
    snapshot: Snapshot,
    decision: Decision,
    decisionKey: string,
  ): Promise<string | undefined> {
    const denial = await context.admit(snapshot, decision, decisionKey)
    return denial === undefined || quiet.has(denial.code)
      ? undefined
      : `${decision.kind}: ${denial.code}, ${denial.reason}`
  }

  async function cancelResting(
    wish: UnwindState,
    state: IntentState,
    orderKeys: readonly string[],
  ): Promise<void> {
    const next = await nextTry('flatten-cancel', wish.intentId, 1, () => false)
    if (next.kind === 'spent') {
      await end(wish, 'given-up', `its orders could not be cancelled ${UNWIND_TRIES} times; they rest`)
      return
    }
    if (next.kind !== 'next') return
    const snapshot = await context.read([state.intent.terms.symbol])
    // One that the list does not show has ended, or is too new: the next look knows.
    const rows = snapshot.orders.value.filter(({ orderKey }) =>
      orderKeys.some((key) => sameHex(key, orderKey)),
    )
    const [first] = rows
    if (first === undefined) return
    const { direction } = first
    const marketToken = isOnMarket(first) ? first.marketToken : state.intent.terms.marketToken
    const side = rows.filter(
      (row) => sameHex(row.marketToken, first.marketToken) && row.direction === direction,
    )
    const decision: Decision = {
      kind: 'cancel',
      marketToken,
      direction,
      orderKeys: side.slice(0, cancelMost).map(({ orderKey }) => orderKey),
      reason: `${wish.by} does not want ${wish.intentId} any more: ${wish.reason}`,
    }
    tell(wish.intentId, await make(snapshot, decision, next.decisionKey))
  }

  async function reduce(wish: UnwindState, state: IntentState, opened: readonly Opened[]): Promise<void> {
    const { intentId } = wish
    let isOver = true
    let isSpent = false
    let snapshot: Snapshot | undefined
    const statements: string[] = []
    for (const [index, side] of opened.entries()) {
      const what = `the ${side.direction} of ${formatDollars(side.sizeUsd)}`
      const firstKey = unwindKeyOf('flatten', intentId, index + 1, 1)
      const next = await nextTry(
        'flatten',
        intentId,
        index + 1,
        ({ closing }) => closing?.outcome === 'EXECUTED' || closing?.outcome === 'PARTIAL',
      )
      if (next.kind === 'spent') {
        isSpent = true
        statements.push(`${what} that it opened could not be closed ${UNWIND_TRIES} times`)
      }
      if (next.kind === 'done') statements.push(`${what} that it opened is closed`)
      if (gone.has(firstKey)) statements.push(`${what} that it opened was gone already`)
      if (next.kind === 'running') isOver = false
      if (next.kind !== 'next' || gone.has(firstKey)) continue
      snapshot ??= await context.read([state.intent.terms.symbol])
      if (!context.isSeen(state, snapshot)) {
        isOver = false
        continue
      }
      const held = positionsOn(snapshot, side.marketToken, side.direction).find(({ collateralToken }) =>
        sameHex(collateralToken, side.collateralToken),
      )
      if (held === undefined && lacksMarket(snapshot.positions.missing, side.marketToken)) {
        isOver = false
        tell(
          intentId,
          `a position that may be it cannot be read: ${snapshot.positions.missing?.[0]?.problem}`,
        )
        continue
      }
      const isGone = held === undefined || held.sizeInUsd <= 0n
      const knownUsd = context.holdings.journal().get(sideKeyOf(side))?.sizeUsd ?? 0n
      if (isGone && knownUsd > 0n) {
        // A list alone does not show that it is gone: a host may hide it.
        isOver = false
        tell(
          intentId,
          `no list shows ${what}; by the journal ${formatDollars(knownUsd)} are held on its side`,
        )
        continue
      }
      if (isGone) {
        gone.add(firstKey)
        statements.push(`${what} that it opened was gone already`)
        continue
      }
      isOver = false
      const { marketToken, direction, collateralToken } = side
      const reason = `${wish.by} does not want ${intentId}, which opened ${formatDollars(side.sizeUsd)}: ${wish.reason}`
      const base = { marketToken, direction, collateralToken, reason }
      const decision: Decision =
        side.sizeUsd >= held.sizeInUsd
          ? { kind: 'close', ...base }
          : {
              kind: 'decrease',
              sizeDeltaUsd: minOf(side.sizeUsd, held.sizeInUsd),
              keepLeverage: true,
              ...base,
            }
      tell(intentId, await make(snapshot, decision, next.decisionKey))
    }
    if (isOver) await end(wish, isSpent ? 'given-up' : 'flat', statements.join('; '))
  }

  async function look(): Promise<void> {
    for (const wish of wanted()) {
      const state = await journal.intent(wish.intentId)
      if (state === undefined) continue
      try {
        const next = unwindStepOf(state)
        if (next.kind === 'over') await end(wish, 'nothing-landed', next.statement)
        if (next.kind === 'cancel') await cancelResting(wish, state, next.orderKeys)
        if (next.kind === 'reduce') await reduce(wish, state, next.opened)
      } catch (error) {
        if (!(error instanceof BaseError) || error.code.startsWith('JOURNAL_')) throw error
        tell(wish.intentId, reasonOf(error))
      }
    }
  }

  return {
    open: () =>
      wanted().map((wish) => {
        const problem = problems.get(wish.intentId)
        return problem === undefined ? wish : { ...wish, problem }
      }),
    async request(intentId, { by, reason, strategy }) {
      const live = orderManager.open().find(({ state }) => state.intent.intentId === intentId)
      if (live === undefined) {
        return { code: 'ORDER_NOT_FOUND', reason: `there is no open order ${intentId}` }
      }
      const { intent } = live.state
      if (strategy !== undefined && intent.strategy !== strategy) {
        return {
          code: 'ORDER_NOT_OWN',
          reason: `the order ${intentId} is of ${intent.strategy}; a strategy can unwind its own orders only`,
        }
      }
      if (accountJournal.state().flattens?.has(intentId)) return undefined
      await accountJournal.write({ kind: 'flatten.wanted', of: intentId, by, reason })
      emit({ type: 'unwind.requested', intent, by, reason })
      wake()
      return undefined
    },
    async run(signal) {
      while (!signal.aborted) {
        if (wanted().length > 0) {
          await look()
          await clock.sleep(pollMs, signal)
          continue
        }
        await new Promise<void>((resolve) => {
          wake = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
  }
}
