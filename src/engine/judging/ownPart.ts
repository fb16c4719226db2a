/**
 * The own part of an instance that opens positions: it may reduce that and no other's, and its limits of exposure count that alone.
 * Keepers, which open nothing, and the operator act on the whole position. docs/books.md, "What a strategy may reduce".
 */

import { type AccountFacts, ownSizeOf } from '../../account/facts.ts'
import { type PositionSide, sideKeyOf, sideOfIntent } from '../../domain/accountRecords/accountRecord.ts'
import { fillsOf } from '../../domain/accountRecords/fills.ts'
import type { CloseDecision, Decision, DecreaseDecision } from '../../domain/order/decision.ts'
import type { Denial, Intent, IntentState } from '../../domain/order/intent.ts'
import { heldUsdOn, marketOf, type Snapshot } from '../../domain/snapshot.ts'
import type { HasJournal } from '../../execution/context/executionParts.ts'
import { formatDollars, maxOf, minOf, type Usd } from '../../protocol/units.ts'
import { ownExposureOf } from '../../risk/exposure/accountExposure.ts'
import type { AdmissionContext } from '../../risk/exposure/admissionContext.ts'
import type { Strategy } from '../../strategy/strategy.ts'
import { reductionsIn } from './reduction.ts'

/** Source of a decision: an instance with its kind; the operator has none. */
interface OwnSource {
  readonly name: string
  readonly strategy?: Pick<Strategy, 'opensPositions'>
}

/**
 * The exposure of the account, and of a strategy whose file limits it the own part, which counts against those limits. Judged intents that are not
 * accepted yet count, so that two of one turn cannot both spend the same capacity.
 */
export function exposuresOf(
  { known, limits, orders, own }: AccountFacts,
  strategy: string,
  snapshot: Snapshot,
): Pick<AdmissionContext, 'exposure' | 'own'> {
  const counted =
    orders.pending.length === 0 ? orders.unseen : [...orders.unseen, ...orders.pending.map(begun)]
  const exposure = known.exposureOf(snapshot, counted)
  const ownLimits = limits.ownOn(strategy)
  if (Object.keys(ownLimits).length === 0) return { exposure }
  return {
    exposure,
    own: {
      limits: ownLimits,
      exposure: ownExposureOf(strategy, snapshot, counted, own.parts, own.finalParts),
    },
  }
}

/** An intent as it will be once it is accepted. */
function begun(intent: Intent): IntentState {
  return { intent, attempts: [], updatedAtMs: intent.acceptedAtMs }
}

/** Limits the decision to the instance's own part, or denies it where the instance has none. */
export function withinOwn(
  facts: AccountFacts,
  { name: strategy, strategy: kind }: OwnSource,
  decision: Decision,
): Decision | Denial {
  const { snapshot } = facts
  if (kind?.opensPositions !== true) return decision
  if (decision.kind === 'close' || decision.kind === 'decrease') {
    const leftUsd = leftOf(facts, strategy, decision)
    if (decision.kind === 'decrease') return reduced(decision, leftUsd, snapshot)
    // For a position that is all its own, a close in flight decides by itself when another one may go (REDUCE_IN_FLIGHT).
    const besideClosesUsd = leftOf(facts, strategy, decision, 'close')
    const isAll = besideClosesUsd > 0n && besideClosesUsd >= heldUsdOn(snapshot, decision)
    return isAll ? decision : reduced(decision, leftUsd, snapshot)
  }
  if (decision.kind !== 'batch') return decision
  const asked = new Map<string, { readonly side: PositionSide; sizeUsd: Usd }>()
  for (const { side, sizeUsd } of reductionsIn(decision.batch)) {
    const known = asked.get(sideKeyOf(side)) ?? { side, sizeUsd: 0n }
    known.sizeUsd += sizeUsd
    asked.set(sideKeyOf(side), known)
  }
  for (const { side, sizeUsd } of asked.values()) {
    const leftUsd = leftOf(facts, strategy, side)
    // A message that the strategy composed is accepted unchanged, or denied.
    if (sizeUsd > leftUsd) return beyondBook(side, sizeUsd, leftUsd, snapshot)
  }
  return decision
}

function reduced(
  decision: CloseDecision | DecreaseDecision,
  leftUsd: Usd,
  snapshot: Snapshot,
): Decision | Denial {
  const heldUsd = heldUsdOn(snapshot, decision)
  // Sizing reports the missing part.
  if (heldUsd <= 0n) return decision
  const wantedUsd = decision.kind === 'close' ? heldUsd : decision.sizeDeltaUsd
  if (leftUsd === 0n) return beyondBook(decision, wantedUsd, leftUsd, snapshot)
  if (minOf(wantedUsd, heldUsd) <= leftUsd) return decision
  if (decision.kind === 'decrease') return { ...decision, sizeDeltaUsd: leftUsd }
  // The rest is another's: a part of the position is closed, and its collateral leaves with it.
  return { ...decision, kind: 'decrease', sizeDeltaUsd: leftUsd, keepLeverage: true }
}

/**
 * Returns the part of its book that no order in flight reduces already, USD, without those of the kind `uncounted`. Resting exits wait for a price,
 * and reserve nothing.
 */
function leftOf(
  { orders, own }: AccountFacts,
  strategy: string,
  { marketToken, direction, collateralToken }: PositionSide,
  uncounted?: Intent['kind'],
): Usd {
  const side = { marketToken, direction, collateralToken }
  const isOwn = (intent: Intent): boolean =>
    intent.strategy === strategy &&
    intent.kind !== uncounted &&
    (intent.kind === 'close' || intent.kind === 'decrease') &&
    (intent.terms.orderType === 'market' || intent.terms.orderType === 'twap') &&
    sideKeyOf(sideOfIntent(intent)) === sideKeyOf(side)
  const underWay = orders.open
    .filter(({ intent }) => isOwn(intent))
    .reduce((sum, state) => {
      const filledUsd = fillsOf(state).reduce((all, { sizeDeltaUsd = 0n }) => all - sizeDeltaUsd, 0n)
      return sum + maxOf(0n, state.intent.terms.sizeDeltaUsd - filledUsd)
    }, 0n)
  const planned = orders.pending.filter(isOwn).reduce((sum, { terms }) => sum + terms.sizeDeltaUsd, 0n)
  return maxOf(0n, ownSizeOf(own, side) - underWay - planned)
}

function beyondBook(side: PositionSide, wantedUsd: Usd, leftUsd: Usd, snapshot: Snapshot): Denial {
  const symbol = marketOf(snapshot, side.marketToken)?.market.symbol ?? side.marketToken
  return {
    code: 'BEYOND_BOOK',
    reason: `${symbol} ${side.direction} does not belong to this strategy, or a reduction is already in flight; only a guard or an operator can reduce the rest (perpd positions shows the owners)`,
    wanted: formatDollars(wantedUsd),
    allowed: formatDollars(leftUsd),
  }
}

/** Tells whether others' books hold the whole position of a side, by the journal and by the list: its own exits have lost their purpose. */
export function isOthers(
  { journal }: HasJournal,
  strategy: string,
  side: PositionSide,
  { positions }: Snapshot,
): boolean {
  const key = sideKeyOf(side)
  const books = journal.books()
  if (books.heldBy(strategy, side) > 0n) return false
  const listedUsd = positions.value.find((position) => sideKeyOf(position) === key)?.sizeInUsd ?? 0n
  const sumUsd = books.all().reduce((sum, book) => (sideKeyOf(book) === key ? sum + book.sizeUsd : sum), 0n)
  // A list that shows less is behind a fill, or hides a part: neither makes any of it this strategy's own.
  return sumUsd > 0n && listedUsd <= sumUsd
}
