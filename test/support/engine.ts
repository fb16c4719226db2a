/** The running engine over a bench of `kinds.ts`. */
import { arbitrum } from '../../src/chains/arbitrum.ts'
import type { ShippedFacts } from '../../src/domain/catalogue.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Limits } from '../../src/domain/limits.ts'
import { createAccountBook } from '../../src/engine/accountBook.ts'
import { type CatalogueParts, createCatalogue } from '../../src/engine/catalogue.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { createTrading } from '../../src/engine/trading.ts'
import { createShell } from '../../src/execution/shell.ts'
import type { LoadedStrategy } from '../../src/strategy/load.ts'
import type { KindsBench } from './kinds.ts'

/** An engine, what it told, and the codes of what it denied, in order. It is the test's to abort. */
export function engineOver(
  bench: KindsBench,
  options: {
    readonly strategies?: readonly LoadedStrategy[]
    /** Limits by strategy. */
    readonly limits?: Readonly<Record<string, Limits>>
    readonly account?: Limits
    /** Facts in the place of those that are shipped. */
    readonly facts?: ShippedFacts
    /** How the chain is asked about markets that are not among them; absent: it is not. */
    readonly prove?: CatalogueParts['prove']
  },
): { readonly engine: Engine; readonly events: readonly Event[]; readonly codes: () => readonly string[] } {
  const { journal, clock } = bench
  const events: Event[] = []
  const emit = (event: Event): void => void events.push(event)
  const book = createAccountBook({ journal, clock })
  const trading = createTrading({ book, emit })
  const { facts = arbitrum.facts, prove } = options
  const { fatal } = bench.context
  const parts: CatalogueParts = { shipped: facts, book, clock, emit, fatal }
  const catalogue = createCatalogue(prove === undefined ? parts : { ...parts, prove })
  const context = { ...bench.context, emit, mayNotSign: trading.mayNotSign }
  const engine = createEngine(
    {
      ...context,
      shell: createShell(context),
      strategies: options.strategies ?? [],
      limits: {
        account: options.account ?? {},
        markets: {},
        strategies: options.limits ?? {},
        breakers: { sets: {} },
      },
      trading,
      catalogue,
      engineSettings: {
        lane: 'order-chain',
        intentExpiryMs: 30_000,
        drainMs: 10_000,
        defaultSlippageBps: 100,
        watchMs: 5_000,
        heartbeatMs: 60_000,
      },
    },
    { version: 'test', profile: 'paper', journalPath: 'memory:', evidence: 'as the bench has it' },
    () => undefined,
  )
  const codes = () => events.flatMap((event) => (event.type === 'decision.denied' ? [event.denial.code] : []))
  return { engine, events, codes }
}
