/**
 * Rotation: holds longs of the few markets of its list whose price rose most over a lookback (momentum), and changes them by a cadence.
 *
 * A chosen market stays chosen until another is better by `marginBps`, so that two close ones do not change places each time. The choice is
 * remembered; between two choices the account is brought to it. Markets no longer chosen are closed first, and no more markets are held or opened at
 * once than `hold`. A position that its stop closed is not opened again before the next choice. While the candles of a held market are unreadable or
 * old, nothing is chosen anew. It trades by its own parts of positions.
 */
import { defined } from '../../base/defined.ts'
import type { Decision } from '../../domain/order/decision.ts'
import { sameHex } from '../../protocol/address.ts'
import { BPS_ONE } from '../../protocol/units.ts'
import { bpsField, countField, secondsField } from '../fields.ts'
import { roc } from '../indicators.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'
import {
  closeOf,
  entryOf,
  freshCandles,
  isPastStop,
  type MarketScene,
  periodField,
  sceneOf,
  stopPriceOf,
} from './shared/marketScene.ts'

const schema = z.strictObject({
  period: periodField.default('1h').describe('length of a candle'),
  lookbackCandles: countField({ min: 2, max: 900 })
    .default(168)
    .describe('closed candles over which the return is counted'),
  hold: countField({ min: 1, max: 20 }).default(1).describe('most markets that are held at once'),
  minReturnBps: bpsField({ max: 10_000 })
    .default(0)
    .describe('least return over the lookback; it never holds a market below'),
  marginBps: bpsField({ max: 5000 }).default(200).describe('lead that a market needs to replace a held one'),
  everySeconds: secondsField({ min: 60, max: 2_592_000 })
    .default(86_400_000)
    .describe('time between two rotations, seconds (86400)'),
  stopBps: bpsField({ min: 10, max: 9000 }).default(800).describe('stop, basis points from the entry'),
})

const memorySchema = z.strictObject({
  /** Unix ms; absent before the first choice. */
  chosenAtMs: z.number().optional(),
  /** By symbol, best first. `isOpened`: it was filled since it was chosen. */
  chosen: z.array(z.strictObject({ symbol: z.string(), isOpened: z.boolean() })).readonly(),
  /** Times of the newest denials in a market, Unix ms, by its symbol. */
  deniedAtMs: z.record(z.string(), z.number()),
})

type Memory = z.output<typeof memorySchema>
type View = StrategyView<z.output<typeof schema>>
type Scenes = ReadonlyMap<string, MarketScene>

/** Pause of a market after a denial, ms: the memory records each denial. */
const RETRY_MS = 60_000

/** The kind `rotation`. */
export const rotation = defineStrategy({
  kind: 'rotation',
  description:
    'Holds the markets of its list that rose most over a lookback, and rotates at fixed intervals.',
  params: schema,
  memory: { version: 1, schema: memorySchema, first: { chosen: [], deniedAtMs: {} } },
  needs: (params, symbols) => ({
    symbols,
    candles: symbols.map((symbol) => ({ symbol, period: params.period, limit: params.lookbackCandles + 2 })),
  }),
  decide(view, remembered: Memory) {
    const scenes: Scenes = new Map(
      view.instance.symbols.flatMap((symbol) => {
        const scene = sceneOf(view, symbol)
        return scene === undefined ? [] : [[symbol, scene] as const]
      }),
    )
    const memory = chosenAnew(view, scenes, afterEvents(view, remembered))
    return { decisions: towards(view, scenes, memory), memory }
  },
  status(_view, { chosen, chosenAtMs }) {
    if (chosenAtMs === undefined || chosen.length === 0)
      return { text: 'no market is chosen, waits for one that rose' }
    const names = chosen.map(
      ({ symbol, isOpened }) => `${symbol.split('/')[0]}${isOpened ? '' : ' (not open yet)'}`,
    )
    const at = new Date(chosenAtMs).toISOString().slice(0, 16)
    return { text: `chose ${names.join(', ')} at ${at}Z`.slice(0, 160), facts: { chosen: chosen.length } }
  },
})

/** Returns the memory after the outcomes of its orders. */
function afterEvents(view: View, memory: Memory): Memory {
  let { chosen } = memory
  const { atMs } = view.snapshot
  const deniedAtMs = Object.fromEntries(
    Object.entries(memory.deniedAtMs).filter(([, deniedMs]) => Math.abs(atMs - deniedMs) < RETRY_MS),
  )
  for (const event of view.events) {
    const symbol = view.instance.symbols.find((each) => {
      const token = view.market(each)?.market.marketToken
      return token !== undefined && event.marketToken !== undefined && sameHex(token, event.marketToken)
    })
    if (symbol === undefined) continue
    if (event.kind === 'denied') deniedAtMs[symbol] = atMs
    const isFill = event.kind === 'filled' || event.kind === 'unfilled'
    if (!isFill || !event.adds) continue
    const isOpened = event.kind === 'filled'
    chosen = chosen.map((each) => (each.symbol === symbol ? { ...each, isOpened } : each))
  }
  return { ...memory, chosen, deniedAtMs }
}

/** The memory with a new choice, when its time has come and the markets can be judged. */
function chosenAnew(view: View, scenes: Scenes, memory: Memory): Memory {
  const { params, snapshot, instance } = view
  const { chosenAtMs } = memory
  // A clock that was set back does not hold it up.
  if (chosenAtMs !== undefined && Math.abs(snapshot.atMs - chosenAtMs) < params.everySeconds) return memory
  const isHeld = (symbol: string) => (scenes.get(symbol)?.held.length ?? 0) > 0
  const returns = instance.symbols.map((symbol) => ({ symbol, returnBps: returnOf(view, symbol) }))
  const isKnown = returns.some(({ returnBps }) => returnBps !== undefined)
  if (!isKnown || returns.some(({ symbol, returnBps }) => returnBps === undefined && isHeld(symbol)))
    return memory
  const ranked = returns
    .flatMap(({ symbol, returnBps }) => {
      const before = memory.chosen.find((each) => each.symbol === symbol)
      // A market whose position was closed by its stop has no place to keep.
      const keeps = before !== undefined && (isHeld(symbol) || !before.isOpened)
      const score = returnBps === undefined ? undefined : returnBps + (keeps ? params.marginBps : 0)
      return score === undefined || score < params.minReturnBps ? [] : [{ symbol, score }]
    })
    .sort((one, other) => other.score - one.score)
    .slice(0, params.hold)
  const chosen = ranked.map(({ symbol }) => ({ symbol, isOpened: isHeld(symbol) }))
  return { ...memory, chosen, chosenAtMs: snapshot.atMs }
}

/** Return over the lookback, whole basis points; undefined when the candles are too few or old. */
function returnOf(view: View, symbol: string): number | undefined {
  const { period, lookbackCandles } = view.params
  const candles = freshCandles(view, symbol, period)
  const change = candles && roc(candles, lookbackCandles)
  return change === undefined || !Number.isFinite(change) ? undefined : Math.round(change * BPS_ONE)
}

/** Returns the decisions that bring the account nearer to the chosen markets. */
function towards(view: View, scenes: Scenes, { chosen, deniedAtMs }: Memory): readonly Decision[] {
  const { params } = view
  const decisions: Decision[] = []
  let count = 0
  for (const [symbol, scene] of scenes) {
    const { held, isBusy, market } = scene
    if (held.length > 0 || isBusy) count += 1
    const isClosing = view.openIntents.some(
      ({ kind, marketToken }) => kind === 'close' && sameHex(marketToken, market.market.marketToken),
    )
    if (isClosing || deniedAtMs[symbol] !== undefined) continue
    for (const position of held) {
      const isChosen = chosen.some((each) => each.symbol === symbol) && position.direction === 'long'
      const isStopped = isPastStop(position, scene.price, params.stopBps)
      if (isChosen && !isStopped) continue
      const reason = isStopped
        ? `The price of ${symbol} is ${params.stopBps} bps or more against the position.`
        : `${symbol} is no longer among the best ${params.hold}.`
      decisions.push(closeOf(scene, position.direction, reason, {}))
    }
  }
  for (const { symbol, isOpened } of chosen) {
    const scene = scenes.get(symbol)
    if (scene === undefined || isOpened || count >= params.hold) continue
    if (scene.isBusy || scene.held.length > 0 || scene.market.status === 'closed') continue
    if (deniedAtMs[symbol] !== undefined) continue
    count += 1
    const returnBps = returnOf(view, symbol)
    const reason = `${symbol} is among the best ${params.hold} of ${view.instance.symbols.length} markets.`
    const facts = defined({ returnBps })
    decisions.push(entryOf(scene, 'long', reason, facts, stopPriceOf(scene.price, 'long', params.stopBps)))
  }
  return decisions
}
