/**
 * What fills cost besides what the venue takes of each: sending their messages, and of a reduction its share of what opening the
 * position cost (docs/orders.md, "What a result is made of"). One fold over all fills in their order in time. Pure.
 */
import { type Hex, hexKey } from '../../protocol/address.ts'
import { absOf, minOf, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { type IntentState, lastAttempt } from '../order/intent.ts'
import { type CostsLookup, type FillCosts, isExit } from '../order/orderLegs.ts'
import { type AccountState, type DiscrepancyState, expectedDeltaOf, sideKeyOf } from './accountRecord.ts'
import { childFillsOf, filledAtMs } from './fills.ts'

/** One change of a position, ours or another's, in its place in time. */
interface Move {
  readonly side: string
  readonly atMs: number
  /** Of moves of one moment: what was accepted first, and an entry before its exits. */
  readonly order: readonly [acceptedAtMs: number, isExit: number]
  readonly adds: boolean
  /** USD; absent where no evidence says how much. */
  readonly sizeUsd?: Usd
  /** Nothing is left of the position afterwards. */
  readonly takesAll?: boolean
  /** Ours: the order, and what it cost. */
  readonly ours?: { readonly orderKey: Hex; readonly feesUsd: Usd; readonly sendingUsd: Usd }
}

/** A position on its way: its size, how much of that others opened, and what opening the rest cost. USD. */
interface Held {
  readonly sizeUsd: Usd
  readonly othersUsd: Usd
  readonly costsUsd: Usd
}

const nothing: Held = { sizeUsd: 0n, othersUsd: 0n, costsUsd: 0n }

/**
 * What each fill of these orders cost besides. What others did to the positions counts as far as the account's records know it.
 *
 * @param stories in any order; a reduction bears the costs of those entries that are among them
 * @param feeTokenDecimals of the chain's fee token, a dollar coin
 */
export function fillCosts(
  stories: readonly IntentState[],
  { findings }: Pick<AccountState, 'findings'>,
  feeTokenDecimals: number,
): CostsLookup {
  const moves = [
    ...stories.flatMap((state) => movesOf(state, feeTokenDecimals)),
    ...[...findings.values()].flatMap(moveByOthers),
  ].toSorted(
    (one, other) => one.atMs - other.atMs || one.order[0] - other.order[0] || one.order[1] - other.order[1],
  )
  const positions = new Map<string, Held>()
  const costs = new Map<string, FillCosts>()
  for (const move of moves) {
    const held = positions.get(move.side) ?? nothing
    const { after, entryCostsUsd, isEntryKnown } = move.adds ? added(held, move) : reduced(held, move)
    positions.set(move.side, after)
    if (move.ours === undefined) continue
    const { orderKey, sendingUsd } = move.ours
    costs.set(hexKey(orderKey), { sendingUsd, entryCostsUsd, isEntryKnown })
  }
  return (orderKey) => costs.get(hexKey(orderKey))
}

/** What a journal in memory is asked. */
interface ToldIn {
  summary(): { readonly records: number }
  recentIntents(): readonly IntentState[]
  account(): Pick<AccountState, 'findings'>
}

/** The same out of a running daemon's journal, folded when it is asked and the journal has grown. It knows the newest orders alone. */
export function costsIn(journal: ToldIn, feeTokenDecimals: number): CostsLookup {
  let folded: { readonly records: number; readonly costsOf: CostsLookup } | undefined
  return (orderKey) => {
    const { records } = journal.summary()
    if (folded?.records !== records) {
      const costsOf = fillCosts(journal.recentIntents(), journal.account(), feeTokenDecimals)
      folded = { records, costsOf }
    }
    return folded.costsOf(orderKey)
  }
}

interface Step {
  readonly after: Held
  readonly entryCostsUsd: Usd
  readonly isEntryKnown: boolean
}

function added({ sizeUsd, othersUsd, costsUsd }: Held, { sizeUsd: more = 0n, ours }: Move): Step {
  return {
    after: {
      sizeUsd: sizeUsd + more,
      othersUsd: ours === undefined ? othersUsd + more : othersUsd,
      costsUsd: ours === undefined ? costsUsd : costsUsd + ours.feesUsd + ours.sendingUsd,
    },
    entryCostsUsd: 0n,
    isEntryKnown: true,
  }
}

function reduced(held: Held, { sizeUsd: asked = held.sizeUsd, takesAll }: Move): Step {
  const { sizeUsd, othersUsd, costsUsd } = held
  if (sizeUsd <= 0n) return { after: nothing, entryCostsUsd: 0n, isEntryKnown: false }
  const less = takesAll === true ? sizeUsd : minOf(asked, sizeUsd)
  const share = (amount: Usd): Usd => (amount * less) / sizeUsd
  const after =
    less === sizeUsd
      ? nothing
      : {
          sizeUsd: sizeUsd - less,
          othersUsd: othersUsd - share(othersUsd),
          costsUsd: costsUsd - share(costsUsd),
        }
  return { after, entryCostsUsd: share(costsUsd), isEntryKnown: othersUsd === 0n && asked <= sizeUsd }
}

function movesOf(state: IntentState, feeTokenDecimals: number): readonly Move[] {
  const { intent } = state
  const attempt = lastAttempt(state)
  const wholeUsd = (attempt?.armed?.relayFeeAmount ?? 0n) * 10n ** BigInt(USD_DECIMALS - feeTokenDecimals)
  const own = attempt?.children.filter((child) => !isExit(child)).length ?? 0
  return childFillsOf(state).map(({ child, fill, adds }): Move => {
    const { sizeDeltaUsd } = fill
    return {
      side: sideKeyOf(fill),
      atMs: filledAtMs(state, child),
      order: [intent.acceptedAtMs, isExit(child) ? 1 : 0],
      adds,
      ...(sizeDeltaUsd === undefined ? {} : { sizeUsd: absOf(sizeDeltaUsd) }),
      takesAll: intent.kind === 'close',
      ours: {
        orderKey: child.orderKey,
        feesUsd: child.settlement?.feesUsd ?? 0n,
        // The message of an entry pays for its exits too.
        sendingUsd: isExit(child) ? 0n : wholeUsd / BigInt(Math.max(1, own)),
      },
    }
  })
}

/** What was there before perpd looked counts though nobody adopted it: a reduction closes some of it all the same. */
function moveByOthers(state: DiscrepancyState): readonly Move[] {
  const { finding, raisedAtMs, end } = state
  const deltaUsd =
    finding.isInitial === true && end !== 'gone' ? finding.sizeDeltaUsd : expectedDeltaOf(state)
  if (deltaUsd === 0n) return []
  return [
    {
      side: sideKeyOf(finding),
      atMs: finding.atSeconds === undefined ? raisedAtMs : finding.atSeconds * 1_000,
      order: [raisedAtMs, 0],
      adds: deltaUsd > 0n,
      sizeUsd: absOf(deltaUsd),
    },
  ]
}
