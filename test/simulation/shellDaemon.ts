/**
 * Tier 2: the real shell, clients, decoders, verifier, signer and relay calldata, over the modelled venue and chain. Time is
 * virtual; whatever waits for nothing but its turn runs to its end between two events of the world.
 */
import { createApi } from '../../src/api/client.ts'
import { processClock } from '../../src/backtest/lab/timeline.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { ChainReader } from '../../src/domain/machine/chainReader.ts'
import { step } from '../../src/domain/machine/step.ts'
import type { Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { HeldSignature, SignRequest } from '../../src/domain/signer.ts'
import type { ExecutionContext } from '../../src/execution/context/executionContext.ts'
import { createOrderManager, type OrderManager } from '../../src/execution/orderManager.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { guardedSigner } from '../../src/keys/signingGuard.ts'
import { type Address, type Hex, ZERO_ADDRESS } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { holdToRegister } from '../support/registeredLine.ts'
import type { Daemon, DaemonParts, Tier } from './daemon.ts'
import { oracleHost } from './engineMarkets.ts'
import { createFetch, keptIn, type SignedMessage } from './httpVenue.ts'
import { intentIdOf, numberOfAmount, swapMarkets } from './intentsOf.ts'
import { jsonText } from './payload.ts'
import { createRpcFetch, endpointUrl, rpcChain } from './rpcFetch.ts'
import type { Truth } from './truth.ts'

/** The key of every world; it must show in nothing that leaves the signer. */
export const privateKey = `0x${'5e'.repeat(32)}` as const
const localSigner = createLocalSigner(privateKey)

/** The account that worlds trade for. */
export const simulatedAccount = localSigner.address

/** The account that worlds with a session key trade for; its key is in none of them. */
export const simulatedOwner: Address = '0x0000000000000000000000000000000000000b0b'

/** The tier that drives the real shell. */
export const shellTier: Tier = {
  name: 'shell',
  create: (parts) => new ShellDaemon(parts),
  drain: () => new Promise((resolve) => setImmediate(resolve)),
}

const never = () => new Promise<never>(() => {})

/** A signature of a world without a guard. */
const unguarded = async (request: SignRequest): Promise<HeldSignature> => ({
  signature: await localSigner.sign(request),
  recorded: Promise.resolve(),
})

/** What was signed in a world, by signature; it outlives the process. */
const signaturesOf = new WeakMap<object, Map<string, SignedMessage>>()

/**
 * I15: no host is taken for a liar where none lies. A deadline of the model may be 40 s ahead: where hosts and chain have clocks of
 * their own that is too near by the chain's.
 */
export function checkBlame({ faults, truth }: Pick<DaemonParts, 'faults' | 'truth'>): void {
  if (!faults.counts.has('prepare-hostile') && !faults.counts.has('clock-skew'))
    (truth as Truth).fail('I15', 'an honest host is taken for a liar')
}

class ShellDaemon implements Daemon {
  readonly #parts: DaemonParts
  readonly #shell: OrderManager
  readonly #clock: ReturnType<typeof processClock>
  readonly #context: ExecutionContext

  constructor(parts: DaemonParts) {
    this.#parts = parts
    const { process, timeline, endpoints, journal, rules, delegate } = parts
    const signer = journal.guard === undefined ? localSigner : guardedSigner(localSigner, journal.guard)
    const signatures = signaturesOf.get(parts.truth) ?? new Map<string, SignedMessage>()
    signaturesOf.set(parts.truth, signatures)
    this.#clock = processClock(timeline, () => process.isAlive, parts.wallOffsetMs)
    const api = createApi({
      chain: arbitrum,
      hosts: {
        ...arbitrum.hosts,
        api: parts.venue.peers.map(({ host }) => host),
        oracle: [oracleHost],
      },
      fetch: createFetch(parts, signatures, parts.account),
      clock: this.#clock,
      random: () => parts.random.next(),
      limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
    })
    this.#context = {
      api,
      journal,
      signer: {
        address: localSigner.address,
        sign: () => never(),
        signHeld: async (request) => {
          if (parts.boundary('sign')) return never()
          const held = await (signer.signHeld?.(request) ?? unguarded(request))
          const { signature } = held
          parts.transcript?.signature(timeline.nowMs, request.digest, signature)
          this.#remember(request, signature, signatures)
          return parts.boundary('signed') ? never() : held
        },
      },
      ...(delegate === undefined
        ? {}
        : {
            delegation: {
              account: parts.account,
              approvalFor: () => emptySubaccountApproval(delegate, arbitrum.chainId),
            },
          }),
      chain: arbitrum,
      ...(endpoints.length === 0 ? {} : { chainReader: this.#reader() }),
      clock: this.#clock,
      emit: (event) => {
        holdToRegister(event)
        if (jsonText(event).includes(privateKey.slice(2)))
          parts.truth.fail('I14', `${event.type} shows the key`)
        if (event.type === 'order.payload_rejected') checkBlame(parts)
        if (event.type === 'order.moved') parts.note(`event ${event.type} ${event.from} ${event.to}`)
        if (event.type === 'order.observed') parts.note(`event ${event.type} ${event.status}`)
      },
      rules,
      settings: {
        statusPollMs: 500,
        statusPollMaxMs: parts.pollMaxMs,
        restingPollMs: 12 * parts.pollMaxMs,
        prepareRetryMs: 1_000,
        withheldMs: 15_000,
        payloadMismatchCooldownMs: 10_000,
        relayDeadlineSeconds: 120,
        relayFeePerOrder: 250_000n,
      },
      signingPolicy: () => ({
        minDeadlineSeconds: 20,
        maxDeadlineSeconds: 3_700,
        maxExecutionFee: 10n ** 16n,
        maxRelayFee: 5_000_000n,
        priceToleranceBps: 100,
        swapMarkets,
      }),
      fatal: (error) => {
        if (process.isAlive) parts.fatal(error)
      },
    }
    this.#shell = createOrderManager(this.#context)
  }

  get timers(): number {
    return this.#clock.sleepers
  }

  start(): void {
    this.#shell.restore(this.#parts.journal.openIntents(), [])
    this.#shell.recover().catch((error: unknown) => this.#context.fatal(error))
  }

  accept(intent: Intent, done: (isAccepted: boolean) => void): void {
    const { process, fatal } = this.#parts
    this.#shell
      .accept(intent)
      .then((isAccepted) => {
        if (process.isAlive) done(isAccepted)
      })
      .catch((error: unknown) => {
        if (process.isAlive) fatal(error)
      })
  }

  states(): readonly IntentState[] {
    return this.#shell.open().map(({ state }) => state)
  }

  stop(done: () => void): void {
    this.#shell.stop().then(done, (error: unknown) => this.#context.fatal(error))
  }

  /** The operator's command works on the journal of a daemon that is down. */
  resolve(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void {
    const { journal, rules } = this.#parts
    const nowMs = this.#clock.now()
    const { record } = step(
      journal.recentIntent(intentId),
      { type: 'resolved', nowMs, as, by: 'operator' },
      rules,
    )
    if (record !== undefined) journal.commit(record)
  }

  command(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void {
    const { process, fatal } = this.#parts
    this.#shell.resolve(intentId, as, 'operator').catch((error: unknown) => {
      if (process.isAlive) fatal(error)
    })
  }

  /** I9: nothing is signed that does not say what was decided. */
  #remember(request: SignRequest, signature: Hex, signatures: Map<string, SignedMessage>): void {
    const truth: Truth = this.#parts.truth
    if (!this.#parts.process.isAlive) return
    const message = request.typedData.message as {
      account: string
      createOrderParamsList: readonly {
        orderType: bigint
        addresses: { receiver: string; market: string }
        numbers: { sizeDeltaUsd: bigint; initialCollateralDeltaAmount: bigint }
      }[]
      updateOrderParamsList: readonly { key: string; sizeDeltaUsd: bigint }[]
      cancelOrderKeys: readonly string[]
    }
    const intent = this.#intentOf(message)
    if (intent === undefined) truth.fail('I9', 'a message was signed that nobody decided')
    const { account, terms, kind } = intent
    for (const { addresses, numbers } of message.createOrderParamsList) {
      if (addresses.receiver.toLowerCase() !== account.toLowerCase())
        truth.fail('I9', `${intent.intentId} pays ${addresses.receiver}`)
      if (numbers.sizeDeltaUsd > terms.sizeDeltaUsd && !kind.startsWith('collateral'))
        truth.fail('I9', `${intent.intentId} signs ${numbers.sizeDeltaUsd} of ${terms.sizeDeltaUsd}`)
      if (kind !== 'swap' && addresses.market.toLowerCase() !== terms.marketToken.toLowerCase())
        truth.fail('I9', `${intent.intentId} trades ${addresses.market}`)
    }
    const cancels = kind === 'cancel' || kind === 'batch' ? 1 : 0
    if (message.cancelOrderKeys.length > cancels)
      truth.fail('I9', `${intent.intentId} cancels more than was decided`)
    const verifyingContract = request.typedData.domain.verifyingContract.toLowerCase()
    const { gelatoRelayRouter, subaccountGelatoRelayRouter } = arbitrum.contracts
    const isDelegated = this.#parts.delegate !== undefined
    const router = isDelegated ? subaccountGelatoRelayRouter : gelatoRelayRouter
    if (verifyingContract !== router.toLowerCase())
      truth.fail('I9', `${intent.intentId} signs for ${verifyingContract}`)
    if (message.account.toLowerCase() !== (isDelegated ? account : ZERO_ADDRESS).toLowerCase())
      truth.fail('I9', `${intent.intentId} signs for the account ${message.account}`)
    const sizesUsd = message.createOrderParamsList.map(({ numbers }) => numbers.sizeDeltaUsd)
    const { intentId } = intent
    signatures.set(signature, {
      digest: request.digest,
      signature,
      intentId,
      sizesUsd,
      ...keptIn(message),
    })
  }

  #intentOf(message: {
    createOrderParamsList: readonly {
      orderType: bigint
      numbers: { sizeDeltaUsd: bigint; initialCollateralDeltaAmount: bigint }
    }[]
    updateOrderParamsList: readonly { key: string; sizeDeltaUsd: bigint }[]
    cancelOrderKeys: readonly string[]
  }): Intent | undefined {
    const { intents } = this.#parts.truth
    const open = this.states().map(({ intent }) => intent)
    const [create] = message.createOrderParamsList
    const [update] = message.updateOrderParamsList
    if (create !== undefined) {
      const { sizeDeltaUsd, initialCollateralDeltaAmount } = create.numbers
      const parts = BigInt(message.createOrderParamsList.length)
      const isTwap =
        parts > 1n && message.createOrderParamsList.every((each) => each.orderType === create.orderType)
      const whole = isTwap ? sizeDeltaUsd * parts : sizeDeltaUsd
      // The collateral of a reduction is the venue's choice: it tells the decision only where no size does.
      const asked = intentIdOf(numberOfAmount(whole > 0n ? whole : initialCollateralDeltaAmount))
      return open.find(({ intentId }) => asked === intentId)
    }
    if (update !== undefined) return intents.get(intentIdOf(numberOfAmount(update.sizeDeltaUsd)))
    const [key] = message.cancelOrderKeys
    return open.find(({ terms }) => terms.cancelOrderKeys?.[0] === key)
  }

  /** The product's own reader of the chain, over requests that come to the modelled endpoints. */
  #reader(): ChainReader {
    const { endpoints, boundary, note } = this.#parts
    const reader = connectChain({
      ...rpcChain,
      http: endpoints.map(endpointUrl),
      ws: [],
      clock: this.#clock,
      emit: (event) => {
        if (event.type === 'chain.read') note(`event ${event.type} ${event.endpoint} ${event.outcome}`)
      },
      fetch: createRpcFetch(this.#parts, this.#parts.account),
    })
    /** The process may end before it asks, and before it hears. */
    const between = async <T>(read: () => Promise<T>): Promise<T> => {
      if (boundary('chain')) return never()
      const seen = await read()
      return boundary('chain read') ? never() : seen
    }
    return {
      configured: reader.configured,
      latestBlocks: () => between(() => reader.latestBlocks()),
      poll: (queries) => between(() => reader.poll(queries)),
    }
  }
}
