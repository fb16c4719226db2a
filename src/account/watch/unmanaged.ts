/**
 * Positions without a manager: strategies made them, and none of those runs any more. Their file is gone, or says `enabled: false`. Nobody manages
 * such a position as intended. It is reported once, stays in the status until that is over, and then its end is reported.
 */

import { type PositionSide, sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { fillsOf } from '../../domain/accountRecords/fills.ts'
import type { HasEmit, HasJournal } from '../../execution/context/executionParts.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import type { HasStrategies } from '../accountParts.ts'
import { OPERATOR } from '../halts/tradingHalts.ts'

/** A position that strategies made which do not run. */
export interface Unmanaged extends PositionSide {
  readonly symbol: string
  readonly sizeUsd: Usd
  /** Names of the strategies that made it; never empty. */
  readonly madeBy: readonly string[]
  /** Running instances that look at its market, such as a guard; they did not make it. */
  readonly seenBy: readonly string[]
}

/** The watch over positions without a manager. */
export interface UnmanagedWatch {
  /** Takes the newest positions; reports each unmanaged one once, and once more when it is managed again or gone. */
  check(positions: readonly Position[], symbols: Readonly<Record<string, string>>): Promise<void>
  current(): readonly Unmanaged[]
}

/** Intents that are looked through at first for who made a position, and at most: older ones leave the maker unknown. */
const [firstIntents, mostIntents] = [100, 25_600]
/** So many of the newest are at hand in memory: a position that changes at each look costs no reading of the journal's file. */
const intentsAtHand = 1_000

/** Makes the watch. An operator's own orders have no manager by intent: they are not reported. */
export function createUnmanagedWatch({
  journal,
  strategies,
  windingDown,
  emit,
}: HasEmit &
  HasStrategies & {
    readonly journal: Pick<HasJournal['journal'], 'intents' | 'recentIntents'>
    /** Names of strategies whose file was removed and whose position is being ended. */
    readonly windingDown: () => readonly string[]
  }): UnmanagedWatch {
  /** Makers by side, with the size that they were found for. */
  let makers: ReadonlyMap<string, { readonly sizeUsd: Usd; readonly names: readonly string[] }> = new Map()
  let told: ReadonlyMap<string, Unmanaged> = new Map()
  let unmanaged: readonly Unmanaged[] = []

  /** Back from the newest fill to where the position began. */
  async function makersOf(side: PositionSide, sizeUsd: Usd): Promise<readonly string[]> {
    const key = sideKeyOf(side)
    for (let limit = firstIntents; ; limit *= 4) {
      const states =
        limit <= intentsAtHand ? journal.recentIntents({ limit }) : await journal.intents({ limit })
      const names = new Set<string>()
      let leftUsd = sizeUsd
      for (const state of states) {
        for (const fill of fillsOf(state)) {
          if (sideKeyOf(fill) !== key) continue
          const deltaUsd = fill.sizeDeltaUsd ?? 0n
          if (deltaUsd > 0n) names.add(state.intent.strategy)
          leftUsd -= deltaUsd
        }
        if (leftUsd <= 0n) return [...names]
      }
      if (states.length < limit || limit >= mostIntents) return [...names]
    }
  }

  return {
    async check(positions, symbols) {
      const held = positions.filter(({ sizeInUsd }) => sizeInUsd > 0n)
      const found = await Promise.all(
        held.map(async (position) => {
          const key = sideKeyOf(position)
          const before = makers.get(key)
          const sizeUsd = position.sizeInUsd
          const names = before?.sizeUsd === sizeUsd ? before.names : await makersOf(position, sizeUsd)
          return { key, position, sizeUsd, names: names.filter((name) => name !== OPERATOR) }
        }),
      )
      const running = new Set([...strategies().map(({ name }) => name), ...windingDown()])
      makers = new Map(found.map(({ key, sizeUsd, names }) => [key, { sizeUsd, names }]))
      unmanaged = found.flatMap(({ position, sizeUsd, names }): Unmanaged[] => {
        if (names.length === 0 || names.some((name) => running.has(name))) return []
        const { marketToken, direction, collateralToken } = position
        const symbol = symbols[hexKey(marketToken)] ?? marketToken
        const seenBy = strategies()
          .filter((each) => each.symbols.length === 0 || each.symbols.includes(symbol))
          .map(({ name }) => name)
        return [{ marketToken, direction, collateralToken, symbol, sizeUsd, madeBy: names, seenBy }]
      })
      const now = new Map(unmanaged.map((each) => [sideKeyOf(each), each]))
      for (const [key, each] of now) if (!told.has(key)) emit({ type: 'account.unmanaged', ...each })
      for (const [key, each] of told) {
        if (!now.has(key)) emit({ type: 'account.unmanaged', ...each, isOver: true })
      }
      told = now
    },
    current: () => unmanaged,
  }
}
