/** A path's orders as perpd would know them: open intents with their orders' results, and the events reported to a kind with a memory. */
import type { OwnEvent } from '../../src/domain/memory/ownEvent.ts'
import type { Child, Evidence, Intent, IntentState, Outcome } from '../../src/domain/order/intent.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Usd } from '../../src/protocol/units.ts'
import type { FillResult } from './pathAccount.ts'

/** A fill of an order of the strategy's own. */
export interface OwnFill extends FillResult {
  /** USD per whole index token. */
  readonly price: Usd
  readonly adds: boolean
}

/** The stories of a path's intents. */
export interface PathIntents {
  /** Open ones by id. */
  readonly intents: ReadonlyMap<string, IntentState>
  /** An intent that landed with these orders. */
  begin(intent: Intent, children: readonly Child[], atSeconds: number): void
  /** The end of one of its orders; when nothing of the intent is left it closes. */
  endChild(
    intentId: string,
    orderKey: Hex,
    phase: 'EXECUTED' | 'CANCELLED',
    atSeconds: number,
    fill?: OwnFill,
  ): void
  close(intent: Intent, outcome: Outcome, atSeconds: number): void
  /** Returns the events since the last call. */
  takeEvents(): readonly OwnEvent[]
}

/** Makes them. */
export function createPathIntents(): PathIntents {
  const intents = new Map<string, IntentState>()
  let events: OwnEvent[] = []
  let seq = 0

  const evidenceAt = (atSeconds: number): Evidence => ({
    level: 'chain-final',
    atMs: atSeconds * 1000,
    statement: 'The path filled it.',
  })

  /** Sets a child's end, tells its fill, and closes the intent when nothing of it is left. */
  function endChild(
    intentId: string,
    orderKey: Hex,
    phase: 'EXECUTED' | 'CANCELLED',
    atSeconds: number,
    fill?: OwnFill,
  ): void {
    const state = intents.get(intentId)
    const [attempt] = state?.attempts ?? []
    if (state === undefined || attempt === undefined) return
    const evidence = evidenceAt(atSeconds)
    const settlement =
      fill === undefined
        ? {}
        : {
            settlement: {
              executionPrice: fill.price,
              sizeDeltaUsd: fill.sizeUsd,
              timestampSeconds: atSeconds,
            },
          }
    const children = attempt.children.map(
      (child): Child => (child.orderKey === orderKey ? { ...child, phase, evidence, ...settlement } : child),
    )
    const { intent } = state
    if (fill !== undefined) tellFill(intent, orderKey, attempt.children, fill, atSeconds)
    intents.set(intentId, { ...state, attempts: [{ ...attempt, children }], updatedAtMs: atSeconds * 1000 })
    if (children.every((child) => child.phase === 'EXECUTED' || child.phase === 'CANCELLED')) {
      const isFilled = children.some((child) => child.phase === 'EXECUTED')
      close(intent, isFilled ? 'EXECUTED' : 'CANCELLED', atSeconds)
    }
  }

  function tellFill(
    intent: Intent,
    orderKey: Hex,
    children: readonly Child[],
    { price, adds, sizeUsd, feeUsd, pnlUsd }: OwnFill,
    atSeconds: number,
  ): void {
    const { marketToken, direction, collateralToken } = intent.terms
    events.push({
      kind: 'filled',
      seq: ++seq,
      atMs: atSeconds * 1000,
      decisionKey: intent.decisionKey,
      isProvisional: false,
      intentId: intent.intentId,
      orderKey,
      role: children.find((child) => child.orderKey === orderKey)?.role ?? 'main',
      marketToken,
      direction,
      collateralToken: collateralToken.address,
      adds,
      sizeDeltaUsd: sizeUsd,
      executionPrice: price,
      feesUsd: feeUsd,
      ...(adds ? {} : { pnlUsd }),
    })
  }

  function close(intent: Intent, outcome: Outcome, atSeconds: number): void {
    intents.delete(intent.intentId)
    const { intentId, kind: order, decisionKey, terms } = intent
    events.push({
      kind: 'closed',
      seq: ++seq,
      atMs: atSeconds * 1000,
      decisionKey,
      intentId,
      order,
      marketToken: terms.marketToken,
      direction: terms.direction,
      outcome,
      code: outcome,
      reason: outcome === 'EXECUTED' ? 'It was executed.' : 'It was cancelled.',
    })
  }

  function begin(intent: Intent, children: readonly Child[], atSeconds: number): void {
    const attempt = { n: 1, lane: intent.lane, host: 'path', phase: 'LANDED', children } as const
    intents.set(intent.intentId, {
      intent,
      attempts: [{ ...attempt, evidence: evidenceAt(atSeconds) }],
      updatedAtMs: atSeconds * 1000,
    })
  }

  return {
    intents,
    begin,
    endChild,
    close,
    takeEvents() {
      const given = events
      events = []
      return given
    },
  }
}
