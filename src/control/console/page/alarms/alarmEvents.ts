/** Finds the events that somebody may be alarmed of in what the page hears. Pure. */
import type { Order, Status } from '../pageWire.ts'
import { percentText, usdText } from '../shownAmount.ts'
import { shownPositions } from '../shownFigures.ts'
import { texts } from '../texts.ts'
import { alarmTexts as words } from './alarmTexts.ts'

/** Events that can be chosen. */
export const alarmEvents = ['fill', 'stop', 'liquidation', 'halt', 'lost'] as const

/** One of them. */
export type AlarmEvent = (typeof alarmEvents)[number]

/** One event as it happened. */
interface Alarm {
  readonly event: AlarmEvent
  readonly text: string
}

/** The part of the page's state that alarms follow. */
export interface AlarmScene {
  readonly orders: readonly Order[]
  readonly status: Status | undefined
  /** The figures are old (`useStream`). */
  readonly isOld: boolean
}

/** Everything that the last look saw and notified. */
export interface AlarmMemory {
  /** The daemon's clock when the page first heard it, Unix ms: fills of before are not told. */
  readonly sinceMs: number
  /** Filled legs that were told. */
  readonly filled: ReadonlySet<string>
  /** Positions that are near their liquidation. */
  readonly near: ReadonlySet<string>
  readonly tradingState: Status['tradingState']
  readonly isOld: boolean
}

/** A position is near its liquidation below the first share of the mark, and no longer above the second, bps. */
const [nearBps, farBps] = [1_000, 1_200]

/** The events since the last look; none at the first one. `memory`: of the last look. */
export function alarmsOf(
  memory: AlarmMemory | undefined,
  { orders, status, isOld }: AlarmScene,
): { readonly memory: AlarmMemory | undefined; readonly alarms: readonly Alarm[] } {
  if (status === undefined) return { memory, alarms: [] }
  const sinceMs = memory?.sinceMs ?? status.nowMs
  const fills = fillsSince(orders, sinceMs)
  const near = nearOf(status, memory?.near ?? new Set())
  const { tradingState } = status
  const next = {
    ...{ sinceMs, tradingState, isOld },
    filled: new Set(fills.map(({ key }) => key)),
    near: new Set(near.map(({ key }) => key)),
  }
  if (memory === undefined) return { memory: next, alarms: [] }
  const alarms = [
    ...fills.flatMap(({ key, ...alarm }) => (memory.filled.has(key) ? [] : [alarm])),
    ...near.flatMap(({ key, ...alarm }) => (memory.near.has(key) ? [] : [alarm])),
    ...(tradingState !== 'active' && tradingState !== memory.tradingState
      ? [{ event: 'halt', text: words.told.halt(texts.trading[tradingState]) } as const]
      : []),
    ...(isOld && !memory.isOld ? [{ event: 'lost', text: words.told.lost } as const] : []),
  ]
  return { memory: next, alarms }
}

/** Legs that were filled since a moment of the daemon's clock. */
function fillsSince(
  orders: readonly Order[],
  sinceMs: number,
): readonly (Alarm & { readonly key: string })[] {
  return orders.flatMap(({ market, direction, strategy, sizeDeltaUsd, legs, ...order }) =>
    legs.flatMap((leg) => {
      if (leg.status !== 'filled' || leg.filledAt === null || Date.parse(leg.filledAt) < sinceMs) return []
      const isStop = leg.role === 'stop-loss' || order.orderType === 'stop-loss'
      const event = isStop ? ('stop' as const) : ('fill' as const)
      const what = words.order(market, direction, usdText(leg.sizeDeltaUsd ?? sizeDeltaUsd), strategy)
      return [{ key: leg.orderKey, event, text: words.told[event](what) }]
    }),
  )
}

function nearOf(status: Status, before: ReadonlySet<string>): readonly (Alarm & { readonly key: string })[] {
  return shownPositions(status, [], []).flatMap(({ key, symbol, row, distanceBps }) => {
    const isNear = distanceBps !== undefined && distanceBps < (before.has(key) ? farBps : nearBps)
    if (!isNear) return []
    const text = words.told.liquidation(words.position(symbol, row.direction), percentText(distanceBps))
    return [{ key, event: 'liquidation' as const, text }]
  })
}
