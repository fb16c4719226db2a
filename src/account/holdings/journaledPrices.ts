/**
 * The last good prices by the journal, for a start that has seen none: execution prices, and the sizing prices of increases and reductions where no
 * host contradicted them. Pure.
 */
import type { IntentState } from '../../domain/order/intent.ts'
import { hexKey } from '../../protocol/address.ts'
import type { LastPrice } from '../../risk/checks/priceJudge.ts'

/** Kinds whose terms have a price of one market that was compared among several hosts. */
const pricedKinds: ReadonlySet<string> = new Set(['increase', 'decrease', 'close'])

/** The newest price of each market, by lower-cased market token. `setBackSince`: how far the clock was set back since an intent was accepted, ms. */
export function journaledPrices(
  states: readonly IntentState[],
  setBackSince: (intentId: string) => number,
): ReadonlyMap<string, LastPrice> {
  const newest = new Map<string, LastPrice>()
  for (const state of states.filter(({ intent }) => pricedKinds.has(intent.kind))) {
    const key = hexKey(state.intent.terms.marketToken)
    for (const found of pricesOf(state, setBackSince(state.intent.intentId)))
      if (found.price > 0n && found.atMs > (newest.get(key)?.atMs ?? 0)) newest.set(key, found)
  }
  return newest
}

function pricesOf({ intent, attempts }: IntentState, setBackMs: number): readonly LastPrice[] {
  const { terms, sizing, acceptedAtMs } = intent
  const isSure = sizing.contested === undefined && sizing.priceSource === undefined
  const executed = attempts.flatMap(({ children }) =>
    children.flatMap(({ phase, settlement }): readonly LastPrice[] => {
      const { executionPrice, timestampSeconds } = settlement ?? {}
      if (phase !== 'EXECUTED' || executionPrice === undefined || timestampSeconds === undefined) return []
      return [{ price: executionPrice, atMs: timestampSeconds * 1000 }]
    }),
  )
  return isSure ? [...executed, { price: terms.referencePrice, atMs: acceptedAtMs - setBackMs }] : executed
}
