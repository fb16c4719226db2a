/**
 * Tier 3: the whole daemon. Its own engine reads the modelled venue, asks seeded strategies, sizes, admits, reconciles, judges
 * breakers and takes an operator's commands; the real shell does the rest. Wired as src/daemon/run.ts does it.
 */
import { createApi } from '../../src/api/client.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import { createTrader } from '../../src/daemon/trader.ts'
import type { AccountRecord } from '../../src/domain/account/accountRecord.ts'
import type { Limits } from '../../src/domain/account/limits.ts'
import type { Event } from '../../src/domain/event.ts'
import type { ChainReader } from '../../src/domain/machine/chainReader.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { SignRequest } from '../../src/domain/signer.ts'
import type { ConfiguredLimits } from '../../src/engine/context/liveLimits.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { MAX_UINT256, usd } from '../../src/protocol/units.ts'
import type { BreakerSettings } from '../../src/risk/breakers/circuitBreakers.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { holdToRegister } from '../support/registeredLine.ts'
import { CLIMBER, type ClimberChecks, climberOf, createClimberChecks } from './climber.ts'
import type { Daemon, DaemonParts, Tier } from './daemon.ts'
import { latestOf, viewOf } from './endpoints.ts'
import { createEngineChecks, type EngineChecks } from './engineChecks.ts'
import { createMarketModel, type MarketModel, modelFacts, oracleHost } from './engineMarkets.ts'
import { planOperator } from './engineOperator.ts'
import { planWishes, strategyOf } from './engineStrategy.ts'
import { createFetch, keptIn, type SignedMessage } from './httpVenue.ts'
import { swapMarkets } from './intentsOf.ts'
import { jsonText } from './payload.ts'
import { checkBlame, privateKey } from './shellDaemon.ts'
import { processClock } from './timeline.ts'
import type { Truth } from './truth.ts'

/** The tier that drives the real engine. */
export const engineTier: Tier = {
  name: 'engine',
  decides: true,
  create: (parts) => new EngineDaemon(parts, worldOf(parts)),
  drain: () => new Promise((resolve) => setImmediate(resolve)),
}

const simulatedSigner = createLocalSigner(privateKey)

/** Decisions and commands come in this time. Faults go on for longer in most worlds. */
const spanMs = 120_000
const watchMs = 5_000

/** What outlives the processes of a world. */
interface EngineWorld {
  readonly market: MarketModel
  readonly checks: EngineChecks
  readonly strategies: readonly LoadedStrategy[]
  /** Judges the strategy with a memory, where there is one. */
  readonly climber: ClimberChecks | undefined
  readonly signatures: Map<string, SignedMessage>
  readonly lane: LaneName
  readonly intentExpiryMs: number
  configured: ConfiguredLimits
  engine: Engine | undefined
}

const worlds = new WeakMap<object, EngineWorld>()

function worldOf(parts: DaemonParts): EngineWorld {
  const known = worlds.get(parts.truth)
  if (known !== undefined) return known
  const { timeline, chain, truth, faults, random, climbing, note, rules } = parts
  const market = createMarketModel({ timeline, chain, random, account: simulatedSigner.address })
  const names = ['one', 'two', 'three'].slice(0, random.int(1, 3))
  const strategies = names.map((name) =>
    strategyOf({
      name,
      wishes: planWishes(random, spanMs),
      limits: {
        ...(random.chance(0.3) ? { maxPositionSizeUsd: usd(1_000) } : {}),
        ...(random.chance(0.4) ? { maxOrdersPerHour: random.int(2, 6) } : {}),
      },
      cadenceMs: random.pick([4_000, 5_000, 10_000]),
      nowMs: () => timeline.nowMs,
      isOver: () => faults.isQuiet,
    }),
  )
  const climber = climbing.chance(0.4) ? [climberOf({ random: climbing, isOver: () => faults.isQuiet })] : []
  const account: Limits = {
    maxTotalExposureUsd: usd(random.pick([2_000, 4_000, 6_000])),
    maxPositionSizeUsd: usd(random.pick([1_500, 3_000])),
    ...(random.chance(0.5) ? { maxMarketExposureUsd: usd(2_500) } : {}),
    ...(random.chance(0.5) ? { maxOrdersPerHour: random.int(4, 15) } : {}),
    ...(random.chance(0.5) ? { attemptsPerCause: random.int(1, 3) } : {}),
    capacityHeadroomBps: random.pick([0, 500, 2_000]),
    maxDataAgeMs: 10_000,
    maxPriceDivergenceBps: 300,
    reduceAgainAfterMs: 20_000,
    ...(random.chance(0.3) ? { maxDailyLossUsd: usd(1_000) } : {}),
  }
  const world: EngineWorld = {
    market,
    checks: createEngineChecks({
      timeline,
      chain,
      truth,
      market,
      isClockSteady: () => !faults.counts.has('clock-jump'),
    }),
    strategies: [...strategies, ...climber],
    climber: climber.length === 0 ? undefined : createClimberChecks(truth),
    signatures: new Map(),
    lane: random.pick(['order-chain', 'order-chain', 'relay'] as const),
    intentExpiryMs: random.int(10, 60) * 1000,
    configured: {
      account,
      markets: {},
      strategies: Object.fromEntries(strategies.map(({ name, limits }) => [name, limits])),
      breakers: breakersOf(random.chance(0.6)),
    },
    engine: undefined,
  }
  worlds.set(truth, world)
  planOperator(
    {
      random,
      timeline,
      faults,
      truth,
      market,
      strategies: names,
      note,
      engine: () => world.engine,
      fatal: (error) => parts.fatal(error),
      configure(change) {
        world.configured = { ...world.configured, account: change(world.configured.account) }
      },
      held: (scope, state) => world.checks.held(scope, state),
      later: parts.later,
      closesByWord: rules.source === 'api' && !rules.trustVenue,
    },
    spanMs,
  )
  return world

  function breakersOf(isOn: boolean): BreakerSettings {
    if (!isOn) return { sets: {} }
    return {
      maxDrawdownBps: 500,
      rejectsInRow: random.int(2, 4),
      poisonedPerDay: random.int(2, 5),
      unknownAgeMs: random.int(20, 60) * 1000,
      staleMs: 30_000,
      openFindings: random.int(1, 3),
      sets: random.chance(0.3) ? { unknowns: 'halted', 'stale-data': 'halted' } : {},
    }
  }
}

/** More than enough turns of the event loop's microtasks for an answer to reach who asked. */
const TURNS_OF_AN_ANSWER = 50

const never = () => new Promise<never>(() => {})

class EngineDaemon implements Daemon {
  readonly #parts: DaemonParts
  readonly #world: EngineWorld
  readonly #engine: Engine
  readonly #clock: ReturnType<typeof processClock>
  #asking = 0
  #restingTimers = 0

  constructor(parts: DaemonParts, world: EngineWorld) {
    this.#parts = parts
    this.#world = world
    const { process, timeline, endpoints, rules } = parts
    this.#clock = processClock(timeline, () => process.isAlive, parts.wallOffsetMs)
    const clock = this.#clock
    const journal = this.#watched(parts.journal)
    const emit = (event: Event) => this.#heard(event)
    const api = createApi({
      chain: arbitrum,
      hosts: { ...arbitrum.hosts, api: parts.venue.peers.map(({ host }) => host), oracle: [oracleHost] },
      fetch: this.#counted(createFetch(parts, world.signatures, simulatedSigner.address, world.market)),
      clock,
      random: () => parts.random.next(),
      limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
    })
    this.#engine = createTrader({
      api,
      journal,
      signer: {
        address: simulatedSigner.address,
        sign: async (request) => {
          if (parts.boundary('sign')) return never()
          const signature = await simulatedSigner.sign(request)
          parts.transcript?.signature(timeline.nowMs, request.digest, signature)
          this.#remember(request, signature)
          return parts.boundary('signed') ? never() : signature
        },
      },
      chain: { ...arbitrum, facts: modelFacts },
      ...(endpoints.length === 0 ? {} : { chainReader: this.#reader() }),
      clock,
      emit,
      strategies: world.strategies,
      limits: world.configured,
      readLimits: async () => world.configured,
      settings: {
        rules,
        execution: {
          statusPollMs: 500,
          statusPollMaxMs: parts.pollMaxMs,
          restingPollMs: 12 * parts.pollMaxMs,
          prepareRetryMs: 1_000,
          payloadMismatchCooldownMs: 10_000,
          relayDeadlineSeconds: 120,
          relayFeePerOrder: 250_000n,
        },
        engine: {
          lane: world.lane,
          intentExpiryMs: world.intentExpiryMs,
          drainMs: 5_000,
          defaultSlippageBps: 100,
          watchMs,
          heartbeatMs: 60_000,
        },
        signingPolicy: () => ({
          minDeadlineSeconds: 20,
          maxDeadlineSeconds: 3_700,
          maxExecutionFee: 10n ** 16n,
          maxRelayFee: 5_000_000n,
          priceToleranceBps: 300,
          swapMarkets,
        }),
      },
      labels: { version: 'simulated', profile: 'simulated', journalPath: 'disk', evidence: rules.source },
      fatal: (error) => {
        if (process.isAlive) parts.fatal(error)
      },
    })
  }

  /** What was left besides the watch of the account and the strategies when nothing was asked of anybody. */
  get timers(): number {
    const { kill, flattens } = this.#engine.status()
    const killing = kill !== undefined && kill.endedAtMs === undefined ? 1 : 0
    const unwinding = flattens.length > 0 ? 1 : 0
    return this.#restingTimers - 1 - killing - unwinding - this.#world.strategies.length
  }

  start(): void {
    const { journal, process, fatal } = this.#parts
    this.#world.checks.begin(journal.recentIntents(), journal.account().tasks, this.#world.configured)
    this.#world.engine = this.#engine
    this.#engine.start().catch((error: unknown) => {
      if (process.isAlive) fatal(error)
    })
  }

  accept(): void {
    throw new TypeError('accept: this daemon decides by itself')
  }

  states(): readonly IntentState[] {
    return this.#engine.status().openIntents.map(({ state }) => state)
  }

  stop(done: () => void): void {
    this.#engine.stop('SIGTERM').then(done, (error: unknown) => this.#parts.fatal(error))
  }

  resolve(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void {
    const { process, fatal } = this.#parts
    this.#engine
      .operate({ type: 'resolve', intentId, as }, { by: 'operator', via: 'cli' })
      .catch((error: unknown) => {
        if (process.isAlive) fatal(error)
      })
  }

  onDurable(record: JournalRecord | AccountRecord, state: IntentState | undefined): void {
    this.#world.checks.durable(record, state, this.#parts.journal.openIntents())
    this.#world.climber?.durable(record)
  }

  finish(): void {
    this.#world.checks.finish(this.#engine.status())
    const { journal } = this.#parts
    const memory = journal.account().memories?.get(CLIMBER)?.memory
    this.#world.climber?.finish(journal.recentIntents(), memory, journal.ownEvents(CLIMBER))
  }

  #heard(event: Event): void {
    const { note, process } = this.#parts
    const truth: Truth = this.#parts.truth
    if (!process.isAlive) return
    holdToRegister(event)
    if (jsonText(event).includes(privateKey.slice(2))) truth.fail('I14', `${event.type} shows the key`)
    if (event.type === 'order.payload_rejected') checkBlame(this.#parts)
    if (event.type === 'account.booksDiffer')
      truth.fail('I16', `the books of ${event.marketToken} are ${event.booksUsd}, not ${event.expectedUsd}`)
    // Nothing but orders moves the account's tokens in these worlds.
    if (event.type === 'account.transferred')
      truth.fail('I16', `${event.amountUsd} that orders moved is taken for a transfer`)
    if (event.type === 'unwind.ended') this.#world.checks.unwound(event.intentId)
    if (event.type === 'order.moved') note(`event ${event.type} ${event.from} ${event.to}`)
    if (event.type === 'decision.denied')
      note(`denied ${event.strategy} ${event.decision.kind} ${event.denial.code}`)
    if (event.type === 'tick.failed') note(`tick failed ${event.strategy} ${event.reason}`)
    if (event.type === 'trading.state') note(`trading ${event.scope} ${event.state} ${event.reason}`)
    if (event.type === 'daemon.ready') note('ready')
  }

  /** Requests, counted: while one is in the air its timeout runs. */
  #counted(fetch: Fetch): Fetch {
    return async (url, init) => {
      this.#asking += 1
      try {
        return await fetch(url, init)
      } finally {
        this.#asking -= 1
        if (this.#asking === 0) void this.#rest()
      }
    }
  }

  /** Counts what is left once the client has taken the answer, and with it the timeout of its request, back. */
  async #rest(): Promise<void> {
    for (let turn = 0; turn < TURNS_OF_AN_ANSWER; turn += 1) await Promise.resolve()
    if (this.#asking === 0) this.#restingTimers = this.#clock.sleepers
  }

  /** The journal, with the checks told of a hold's end, and of what is accepted, before it is written. */
  #watched(journal: DaemonParts['journal']): Journal {
    const { checks } = this.#world
    return new Proxy(journal, {
      get(target, name: keyof Journal) {
        if (name === 'appendAccount') {
          return (record: AccountRecord) => {
            checks.leaving(record)
            return target.appendAccount(record)
          }
        }
        if (name === 'append') {
          return (record: JournalRecord) => {
            checks.leaving(record)
            return target.append(record)
          }
        }
        if (name === 'appendTogether') {
          return (records: readonly (JournalRecord | AccountRecord)[]) => {
            for (const record of records) checks.leaving(record)
            return target.appendTogether(records)
          }
        }
        const member: unknown = target[name]
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }

  /** I9: nothing is signed that does not say what was decided. */
  #remember({ claim, digest, typedData }: SignRequest, signature: Hex): void {
    const { process, journal } = this.#parts
    const truth: Truth = this.#parts.truth
    if (!process.isAlive) return
    const intentId = claim?.intentId ?? ''
    const intent = journal.recentIntent(intentId)?.intent
    if (intent === undefined) truth.fail('I9', 'a message was signed that nobody decided')
    const { account, kind, terms } = intent
    const { createOrderParamsList, cancelOrderKeys } = typedData.message as {
      readonly createOrderParamsList: readonly {
        readonly addresses: { readonly receiver: string; readonly market: string }
        readonly numbers: { readonly sizeDeltaUsd: bigint }
        readonly isLong: boolean
        readonly orderType: bigint
      }[]
      readonly cancelOrderKeys: readonly string[]
    }
    for (const { addresses, numbers, isLong, orderType } of createOrderParamsList) {
      if (addresses.receiver.toLowerCase() !== account.toLowerCase())
        truth.fail('I9', `${intentId} pays ${addresses.receiver}`)
      // What waits to close all is cut to the position, so the largest number says the same; a part may become the whole.
      const heldUsd = terms.held?.sizeInUsd ?? 0n
      const meansAll =
        kind === 'increase'
          ? terms.tpsl?.some((exit) => exit.sizeDeltaUsd >= heldUsd + terms.sizeDeltaUsd) === true
          : terms.sizeDeltaUsd >= heldUsd
      const waits = orderType === 5n || orderType === 6n
      const isAll = meansAll && waits && numbers.sizeDeltaUsd === MAX_UINT256
      const isWhole = numbers.sizeDeltaUsd === terms.otherSizeDeltaUsd
      if (numbers.sizeDeltaUsd > terms.sizeDeltaUsd && !isAll && !isWhole)
        truth.fail('I9', `${intentId} signs ${numbers.sizeDeltaUsd} of ${terms.sizeDeltaUsd}`)
      if (
        addresses.market.toLowerCase() !== terms.marketToken.toLowerCase() ||
        isLong !== (terms.direction === 'long')
      )
        truth.fail('I9', `${intentId} trades ${addresses.market}`)
    }
    if (cancelOrderKeys.join() !== (kind === 'cancel' ? (terms.cancelOrderKeys ?? []) : []).join())
      truth.fail('I9', `${intentId} cancels more than was decided`)
    if (
      typedData.domain.verifyingContract.toLowerCase() !== arbitrum.contracts.gelatoRelayRouter.toLowerCase()
    )
      truth.fail('I9', `${intentId} signs for ${typedData.domain.verifyingContract}`)
    const sizesUsd = createOrderParamsList.map(({ numbers }) => numbers.sizeDeltaUsd)
    this.#world.signatures.set(signature, {
      digest,
      signature,
      intentId,
      sizesUsd,
      ...keptIn(typedData.message),
    })
  }

  #reader(): ChainReader {
    const { chain, endpoints, timeline, random, process, boundary, transcript } = this.#parts
    const later = <T>(what: string, about: readonly Hex[], value: () => T): Promise<T> => {
      if (boundary('chain')) return never()
      transcript?.call(timeline.nowMs, what, JSON.stringify(about))
      return new Promise((resolve) => {
        timeline.after(random.int(1, 150), () => {
          if (!process.isAlive) return
          const seen = value()
          timeline.after(random.int(0, 100), () => {
            if (process.isAlive && !boundary('chain read')) resolve(seen)
          })
        })
      })
    }
    return {
      configured: endpoints.length,
      latestBlocks: () => later('newest', [], () => latestOf(chain, endpoints, timeline.nowMs)),
      poll: (queries) =>
        later(
          'look',
          queries.map(({ digest }) => digest),
          () => queries.map((query) => viewOf(chain, endpoints, query, timeline.nowMs)),
        ),
    }
  }
}
