/** What a simulated day tells: counts by code, the delays of increases, and both books at its end. */
import type { Event } from '../../src/domain/event.ts'
import { addsRisk, isOrderDecision } from '../../src/domain/order/decision.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'

/** Counts by name. */
export type Counts = Readonly<Record<string, number>>

/** Both books: a sentence for each position, and the keys of resting orders. */
export interface Books {
  readonly journal: readonly string[]
  /** As the daemon's own status shows them. */
  readonly shown: readonly string[]
  readonly venue: readonly string[]
  readonly restingByJournal: readonly string[]
  readonly restingByVenue: readonly string[]
}

/** A refusal of an increase that went through later, or was given up. */
export interface Delay {
  readonly strategy: string
  readonly symbol: string
  readonly codes: readonly string[]
  readonly fromMs: number
  readonly forMs: number
  readonly wentThrough: boolean
}

/** What was heard over the day. */
export interface Told {
  /** Increases that were refused, by code; and what else was refused. */
  readonly deniedIncreases: Counts
  readonly deniedOthers: Counts
  readonly delays: readonly Delay[]
  /** Events that should not be there when nothing but lag happens, as sentences with their time. */
  readonly alarms: readonly string[]
  readonly rests: readonly string[]
  readonly failedTicks: Counts
  readonly events: Counts
}

/** A whole day. */
export interface DayReport extends Told {
  readonly seed: number
  readonly hours: number
  readonly lane: LaneName
  /** Every intent of the day, with how it ended. */
  readonly stories: readonly IntentState[]
  readonly status: EngineStatus
  readonly books: Books
  readonly requests: number
  readonly lateAnswers: number
  readonly refusedConnections: number
  readonly outages: number
}

/**
 * Codes of refusals that say that sources contradict each other, that a host or an endpoint is not believed, or that trading
 * is held back. Honest lag must never bring one about for an increase.
 */
export const contradictionCodes = [
  'POSITION_NOT_SHOWN',
  'UNEXPLAINED',
  'MARKET_NOT_TRUSTED',
  'MARKET_UNKNOWN',
  'MARKET_NOT_LISTED',
  'MARKET_NOT_OPEN',
  'MARKET_DATA_STALE',
  'DATA_INCOMPLETE',
  'PRICE_DOUBTED',
  'PRICE_DIVERGENCE',
  'CLOCK_SKEW',
  'ORDER_DIFFERS',
  'ORDER_NOT_KNOWN',
  'ORDER_NOT_OWN',
  'POSITION_UNPROVEN',
  'BEYOND_BOOK',
  'TRADING_HALTED',
  'TRADING_REDUCING',
  'EQUITY_UNKNOWN',
  'MAX_DAILY_LOSS',
  'JOURNAL_SHORT',
  'DUPLICATE_DECISION',
  'DECISION_INVALID',
] as const

/** Ends of orders that accuse a host, an endpoint or a clock. */
export const accusingEnds = [
  'CHAIN_CLOCK_SKEW',
  'TYPED_DATA_MISMATCH',
  'PAYLOAD_UNREADABLE',
  'ACCOUNT_MISMATCH',
  'DIGEST_REUSED',
  'DIGEST_USED_BY_ANOTHER',
  'DEADLINE_PASSED',
  'SIGNER_FAILED',
  'PRICE_OUT_OF_BOUNDS',
  'FEE_ABOVE_LIMIT',
] as const

/** Why trading is halted at the end, by the day itself. */
export const DAY_IS_OVER = 'the day is over'

const add = (counts: Record<string, number>, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1
}

/** What an event says that should not be there when nothing but lag happens; undefined for what is no alarm. */
export function alarmOf(event: Event): string | undefined {
  switch (event.type) {
    case 'account.discrepancy':
      return `discrepancy: ${event.discrepancy.kind} ${event.discrepancy.statement}`
    case 'account.equityJumped':
      return `equity jumped from ${event.equityUsd / 10n ** 30n} to ${event.readingUsd / 10n ** 30n}`
    case 'decision.invalid':
      return `${event.strategy} decided what is no decision: ${event.denial.reason}`
    case 'order.payload_rejected':
      return `poisoned by ${event.host}: ${JSON.stringify(event.differences, textOf)}`
    case 'order.not_signed':
      return `not signed: ${event.code} ${event.intent.kind} ${event.host}`
    case 'market.contradicted':
      return `market contradicted: ${event.symbols.join(', ')}`
    case 'rows.missing':
    case 'rows.foreign':
      return `${event.type} ${event.route} ${event.host}`
    case 'chain.skew':
      return event.isTooLarge ? `chain skew of ${event.skewSeconds} s` : undefined
    case 'trading.state':
      return event.reason.includes(DAY_IS_OVER)
        ? undefined
        : `trading ${event.scope} ${event.state}: ${event.reason}`
    default:
      return undefined
  }
}

const textOf = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value)

/** Listens to a day. */
export function tellerOf(nowMs: () => number): { readonly listen: (event: Event) => void; told(): Told } {
  const deniedIncreases: Record<string, number> = {}
  const deniedOthers: Record<string, number> = {}
  const failedTicks: Record<string, number> = {}
  const events: Record<string, number> = {}
  const alarms: string[] = []
  const rests: string[] = []
  const delays: Delay[] = []
  let isOver = false
  const waiting = new Map<string, { codes: Set<string>; fromMs: number; lastMs: number }>()

  const end = (key: string, wentThrough: boolean): void => {
    const found = waiting.get(key)
    if (found === undefined) return
    waiting.delete(key)
    const [strategy = '', symbol = ''] = key.split('|')
    const forMs = (wentThrough ? nowMs() : found.lastMs) - found.fromMs
    delays.push({ strategy, symbol, codes: [...found.codes], fromMs: found.fromMs, forMs, wentThrough })
  }

  return {
    listen(event) {
      add(events, event.type)
      if (event.type === 'trading.state' && event.reason.includes(DAY_IS_OVER)) isOver = true
      if (isOver && event.type === 'decision.denied') return
      const alarm = alarmOf(event)
      if (alarm !== undefined) alarms.push(`${Math.round(nowMs() / 1000)} s: ${alarm}`)
      if (event.type === 'host.cooldown')
        rests.push(
          `${Math.round(nowMs() / 1000)} s: ${event.host} for ${event.cooldownMs} ms: ${event.reason}`,
        )
      if (event.type === 'tick.failed') add(failedTicks, `${event.strategy} ${event.reason}`)
      if (event.type === 'decision.admitted' && event.intent.kind === 'increase')
        end(`${event.intent.strategy}|${event.intent.terms.symbol}`, true)
      if (event.type !== 'decision.denied') return
      const { decision, denial, strategy, symbol } = event
      if (!isOrderDecision(decision) || !addsRisk(decision, [])) {
        add(deniedOthers, `${decision.kind} ${denial.code}`)
        return
      }
      add(deniedIncreases, denial.code)
      const key = `${strategy}|${symbol}`
      const before = waiting.get(key)
      // A decision that was not repeated for two minutes was given up.
      if (before !== undefined && nowMs() - before.lastMs > 120_000) end(key, false)
      const now = waiting.get(key) ?? { codes: new Set<string>(), fromMs: nowMs(), lastMs: 0 }
      now.codes.add(denial.code)
      now.lastMs = nowMs()
      waiting.set(key, now)
    },
    told() {
      for (const key of [...waiting.keys()]) end(key, false)
      return { deniedIncreases, deniedOthers, delays, alarms, rests, failedTicks, events }
    },
  }
}
