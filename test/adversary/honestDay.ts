/**
 * The other side of the ways out: hours in which nobody lies. The feeds of two groups of hosts stand 1 % apart, lists follow the
 * chain with a lag, and every host restarts, each at another time. Nobody may be accused, nothing refused that could be done, and nothing sent
 * twice.
 */
import type { Event } from '../../src/domain/event.ts'
import { randomOf } from '../simulation/random.ts'
import { type Habit, symbols } from './habits.ts'
import type { Change, Lie } from './lies.ts'
import { runStory, type Story } from './world.ts'

const hourMs = 3_600_000
/** Silence of a host that restarts, ms. */
const restartMs = 60_000
/** Between two restarts, each of another host, ms. */
const betweenMs = 450_000

const hosts = ['api/0', 'oracle/0', 'api/1', 'oracle/1', 'rpc/0', 'rpc/1'] as const

/** Hosts that follow a feed, by the number of its group: an oracle host and an API host. */
const ofFeed = (group: number): readonly (readonly [host: string, route: string, field: string])[] => [
  ...['minPrice', 'maxPrice', 'medianPrice'].map(
    (field) => [`oracle/${group}`, '/prices/tickers', field] as const,
  ),
  ...['minPrice', 'maxPrice', 'markPrice'].map(
    (field) => [`api/${group}`, '/markets/tickers', field] as const,
  ),
  [`api/${group}`, '/positions', 'markPrice'],
]

const always = (host: string, route: string, change: Change): Lie => ({
  host,
  route,
  change,
  fromMs: 0,
  untilMs: Number.POSITIVE_INFINITY,
  every: 1,
})

function planOf(seed: number, spanMs: number): readonly Lie[] {
  const random = randomOf(seed, 'honest day')
  // The price that orders execute at lies between the two, which are as far apart as `risk.maxPriceDivergenceBps` lets them be: 1 % of the lower
  // one, less what prices are rounded by. The bound itself is inside (`checkPriceDivergence`).
  const isFirstAbove = random.chance(0.5)
  const feeds = [0, 1].map((group) => [group, (group === 0) === isFirstAbove ? 1_004_975 : 995_025] as const)
  const lagging = (['api/0', 'api/1'] as const).map((host) => [host, random.int(2, 15)] as const)
  const restarts = Array.from({ length: Math.floor(spanMs / betweenMs) }, (_, at): Lie => {
    const fromMs = (at + 1) * betweenMs
    const host = hosts[at % hosts.length] as string
    return { host, route: '', change: { op: 'hang' }, fromMs, untilMs: fromMs + restartMs, every: 1 }
  })
  return [
    ...feeds.flatMap(([group, ppm]) => [
      ...ofFeed(group).map(([host, route, field]) => always(host, route, { op: 'scale', field, ppm })),
      always(`api/${group}`, '/orders/txns/prepare', {
        op: 'message',
        field: 'acceptablePrice',
        ppm,
        isMarket: true,
      }),
    ]),
    ...lagging.flatMap(([host, seconds]) =>
      ['/positions', '/orders', '/trades', '/trades/search', '/balances/wallet'].map((route) =>
        always(host, route, { op: 'lag', seconds }),
      ),
    ),
    ...restarts,
  ]
}

const habit = (does: Habit['does'], at: number, cadenceMs: number): Habit => ({
  does,
  symbol: symbols[at] ?? symbols[0],
  direction: at === 1 ? 'short' : 'long',
  sizeUsd: 200,
  leverageBps: 30_000,
  collateral: 'short',
  cadenceMs,
})

function storyOf(seed: number, spanMs: number): Story {
  return {
    seed,
    kind: 'nobody',
    plan: planOf(seed, spanMs),
    liars: hosts,
    endpoints: 2,
    flags: [
      // One order sent twice would be more than a habit holds.
      '--risk.maxPositionSizeUsd=300',
      '--risk.maxOrderSizeUsd=300',
      // Fees of a whole day at this pace are no matter here.
      '--risk.executionFeesPerDay=2',
      '--risk.relayFeesPerDayUsd=1000',
      '--risk.reductionFeesPerDayUsd=1000',
    ],
    spanMs,
    habits: [
      habit('turns', 0, 300_000),
      habit('turns', 1, 420_000),
      habit('rests', 2, 1_200_000),
      habit('guards', 0, 30_000),
    ],
  }
}

/** Result of some honest hours. */
export interface HonestDay {
  readonly hours: number
  /** Trades that executed, and intents that closed as executed. */
  readonly executed: number
  readonly closedExecuted: number
  /** Messages that were armed, and that were handed to a host. */
  readonly armed: number
  readonly submits: number
  /** Refusals by code, of decisions and of intents. */
  readonly refused: Readonly<Record<string, number>>
  /** Cooldowns for what a host said, payloads that were rejected, breakers that opened, discrepancies. */
  readonly accusations: readonly string[]
  readonly violation: string | undefined
}

/** Tells some honest hours. */
export async function honestDay(seed: number, hours: number): Promise<HonestDay> {
  const refused: Record<string, number> = {}
  const accusations: string[] = []
  let closedExecuted = 0
  let armed = 0
  const heard = (event: Event): void => {
    if (event.type === 'decision.denied') {
      const { strategy, denial } = event
      const name = `${strategy} ${denial.code}`
      refused[name] = (refused[name] ?? 0) + 1
    }
    if (event.type === 'host.cooldown' && event.outcome === undefined)
      accusations.push(`${event.host} rests: ${event.reason}`)
    if (event.type === 'order.payload_rejected') accusations.push(`${event.host} is taken for a liar`)
    if (event.type !== 'journal.committed') return
    const { record } = event
    if (record.kind === 'attempt.armed') armed += 1
    if (record.kind !== 'intent.closed') return
    const { outcome, code } = record.closing
    if (outcome === 'EXECUTED') closedExecuted += 1
    else refused[`closed ${code}`] = (refused[`closed ${code}`] ?? 0) + 1
  }
  const result = await runStory(storyOf(seed, hours * hourMs), heard)
  const { violation } = result
  return {
    hours,
    executed: result.executed,
    closedExecuted,
    armed,
    submits: result.submits,
    refused,
    accusations: [
      ...accusations,
      ...result.breakers.map((cause) => `the breaker ${cause} opened`),
      ...result.discrepancies,
    ],
    violation: violation && `${violation.rule} ${violation.text}`,
  }
}
