/**
 * Whose part of a position is whose, by the truth of the chain alone: what an instance's own orders added and took off; what one took
 * beyond its own part is taken off all others', by size. Where somebody else took something off a side (the owner, the protocol, an
 * operator), or an order took more than its instance had while others than instances held something, the parts of that side are not told
 * apart here until nothing of it is held.
 */
import type { ModelChain, ModelLog } from './chainModel.ts'

/** What one instance holds on one side. */
export interface OwnPart {
  readonly strategy: string
  readonly marketToken: string
  readonly direction: string
  /** USD. */
  readonly heldUsd: bigint
  /** Nobody can tell here. */
  readonly isMixed: boolean
  /** Block time at which an own order last left nothing of it, Unix seconds. */
  readonly flatAtSeconds: number | undefined
  /** Place among the chain's logs of the execution that opened what is held, if anything is. */
  readonly openedBy: number
  /** Block times at which own stop-losses took something off it, Unix seconds. */
  readonly stopsAtSeconds: readonly number[]
}

type Draft = { -readonly [K in keyof OwnPart]: OwnPart[K] }

const increaseTypes: ReadonlySet<number> = new Set([2, 3, 8])
const STOP_LOSS = 6

/** Whose an order counts for that an operator closed by his word: what became of it nobody knows but him. */
export const BY_WORD = '@word'

/** The key of an instance's side. */
export function partKey(strategy: string, marketToken: string, direction: string): string {
  return `${strategy} ${marketToken.toLowerCase()} ${direction}`
}

/** Of which executions the parts are made. */
interface Counting {
  readonly strategyOf: (intentId: string) => string | undefined
  /** Whether an execution of an own order counts. Absent: all do. */
  readonly isCounted?: (log: ModelLog) => boolean
  /**
   * Whether the evidence of an own order's execution names its block and log. Where it does not, nothing tells in which order executions of one
   * second came, and what adds counts as the first (docs/books.md, rule 5): hosts' rows have seconds alone, and hosts may show one long
   * after the other. The sum of all parts is the position's in either order.
   */
  readonly isPlaced: (log: ModelLog) => boolean
}

/** The parts of all instances by `partKey`. */
export function ownPartsOf(
  chain: ModelChain,
  { strategyOf, isCounted = () => true, isPlaced }: Counting,
): ReadonlyMap<string, OwnPart> {
  const drafts = new Map<string, Draft>()
  const sides = new Map<string, bigint>()
  /** What others than instances added on a side since nothing was held, USD. */
  const others = new Map<string, bigint>()
  /** Sides of which an operator's word alone says what became of an order. */
  const wordOn = new Set<string>()

  function draftOf(strategy: string, marketToken: string, direction: string): Draft {
    const key = partKey(strategy, marketToken, direction)
    const known = drafts.get(key)
    if (known !== undefined) return known
    const draft: Draft = {
      ...{ strategy, marketToken: marketToken.toLowerCase(), direction, heldUsd: 0n, isMixed: false },
      ...{ flatAtSeconds: undefined, openedBy: 0, stopsAtSeconds: [] },
    }
    drafts.set(key, draft)
    return draft
  }

  const onSide = (marketToken: string, direction: string) =>
    [...drafts.values()].filter(
      (each) => each.marketToken === marketToken.toLowerCase() && each.direction === direction,
    )

  for (const [place, log] of inKnownOrder(chain, isPlaced)) {
    const { movedUsd, orderKey, block } = log
    const order = movedUsd === undefined ? undefined : chain.canonical.orders.get(orderKey)
    if (movedUsd === undefined || order === undefined) continue
    const { marketToken, direction, orderType } = order.spec
    const strategy = order.intentId === undefined ? undefined : strategyOf(order.intentId)
    const isOwn = strategy !== undefined && !strategy.startsWith('@')
    if (isOwn && !isCounted(log)) continue
    const adds = increaseTypes.has(orderType)
    const side = `${marketToken.toLowerCase()} ${direction}`
    const leftUsd = (sides.get(side) ?? 0n) + (adds ? movedUsd : -movedUsd)
    sides.set(side, leftUsd)
    if (isOwn) {
      const draft = draftOf(strategy, marketToken, direction)
      if (adds && draft.heldUsd === 0n) draft.openedBy = place
      if (adds) draft.heldUsd += movedUsd
      else if (movedUsd > 0n) {
        const beyondUsd = movedUsd > draft.heldUsd ? movedUsd - draft.heldUsd : 0n
        draft.heldUsd -= movedUsd - beyondUsd
        if (beyondUsd > 0n) takeOff(beyondUsd, onSide(marketToken, direction), (others.get(side) ?? 0n) > 0n)
        const takesOwn = movedUsd > beyondUsd
        if (takesOwn && draft.heldUsd === 0n) draft.flatAtSeconds = block.timestampSeconds
        if (takesOwn && orderType === STOP_LOSS)
          draft.stopsAtSeconds = [...draft.stopsAtSeconds, block.timestampSeconds]
      }
    } else if (movedUsd > 0n && (!adds || strategy === BY_WORD)) {
      if (strategy === BY_WORD) wordOn.add(side)
      for (const each of onSide(marketToken, direction)) each.isMixed = true
    }
    if (!isOwn && adds) others.set(side, (others.get(side) ?? 0n) + movedUsd)
    if (leftUsd <= 0n) others.delete(side)
    for (const each of onSide(marketToken, direction)) {
      if (leftUsd <= 0n) each.heldUsd = 0n
      if (leftUsd <= 0n && !wordOn.has(side)) each.isMixed = leftUsd < 0n
      if (wordOn.has(side)) each.isMixed = true
    }
  }
  return drafts
}

/** Logs with their places, in the order in which the evidence of the executions puts them. */
function inKnownOrder(
  { canonical: { logs, orders } }: ModelChain,
  isPlaced: (log: ModelLog) => boolean,
): readonly (readonly [number, ModelLog])[] {
  const isOwn = ({ orderKey }: ModelLog) => orders.get(orderKey)?.intentId !== undefined
  const adds = ({ orderKey }: ModelLog) => increaseTypes.has(orders.get(orderKey)?.spec.orderType ?? -1)
  const moves = [...logs.entries()].filter(([, { movedUsd }]) => movedUsd !== undefined)
  const seconds = Map.groupBy(moves, ([, { block }]) => block.timestampSeconds)
  return [...seconds.values()].flatMap((ofOne) =>
    ofOne.every(([, log]) => !isOwn(log) || isPlaced(log))
      ? ofOne
      : ofOne.toSorted(([, one], [, other]) => Number(adds(other)) - Number(adds(one))),
  )
}

/** Takes what an order took beyond its own part off all parts, by size; `areOthers`: others than instances hold something of the side. */
function takeOff(beyondUsd: bigint, parts: readonly Draft[], areOthers: boolean): void {
  const sumUsd = parts.reduce((sum, { heldUsd }) => sum + heldUsd, 0n)
  for (const part of parts) {
    if (areOthers) part.isMixed = true
    else part.heldUsd -= beyondUsd >= sumUsd ? part.heldUsd : (part.heldUsd * beyondUsd) / sumUsd
  }
}
