/**
 * The modelled venue behind HTTP: the routes that the road asks, with bodies written from the wire documents, over the
 * modelled network. Bodies may come malformed.
 */

import { decodeFunctionData } from 'viem'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import type { Fetch, FetchAnswer } from '../../src/api/transport/route.ts'
import { epochMs } from '../../src/backtest/lab/timeline.ts'
import { expectedOf } from '../../src/domain/machine/expected.ts'
import type { HostAnswer } from '../../src/domain/machine/observation.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { relayRouterAbi, subaccountRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import { MAX_UINT256 } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import type { KeptFields, Message, ModelOrder, OrderSpec } from './chainModel.ts'
import type { DaemonParts } from './daemon.ts'
import { type MarketModel, oracleHost } from './engineMarkets.ts'
import { specsOf } from './intentsOf.ts'
import type { NetOutcome } from './network.ts'
import { hostilities, jsonText, offerOf } from './payload.ts'
import type { Truth } from './truth.ts'
import type { ListRow } from './venueModel.ts'
import type { Peer } from './venuePeers.ts'

/** What the key signed, by signature: the model recomputes no digest. */
export interface SignedMessage {
  readonly digest: Hex
  readonly intentId: string
  readonly signature: Hex
  /** Sizes of the orders that it creates, USD, and what else is kept of them: the chain creates what was signed. */
  readonly sizesUsd: readonly bigint[]
  readonly kept: readonly KeptFields[]
  readonly updates: ReadonlyMap<Hex, KeptFields>
  /** Its calldata, once it was handed in. */
  message?: Message
}

/** A whole daemon reads all the time: so few of its reads are places where it may end, */
const readEnds = 0.02
/** and so many go well. */
const smoothReads = 0.85

/** What a request asks for. */
interface Asked {
  readonly path: string
  readonly query: URLSearchParams
}

interface Reply {
  readonly status: number
  readonly body: unknown
  /** Comes as it was said. */
  readonly isWhole?: true
}

type Body = Readonly<Record<string, unknown>>

const oracle: readonly Peer[] = [{ host: oracleHost, records: new Map(), skewMs: 0, isDown: false, lagMs: 0 }]

/**
 * The fetch of one process of the daemon. `services`: what else the venue and the oracle say, where the daemon asks for more
 * than its orders.
 */
export function createFetch(
  parts: DaemonParts,
  signatures: ReadonlyMap<string, SignedMessage>,
  account: Address,
  services?: MarketModel,
): Fetch {
  const { network, venue, process, boundary, faults, random, timeline } = parts

  return (url, init) => {
    const peer = [...venue.peers, ...oracle].find(({ host }) => url.startsWith(`${host}/`))
    if (peer === undefined) throw new Error(`the model has no host for ${url}`)
    const target = url.slice(peer.host.length)
    const [path = '', search = ''] = target.split('?')
    const query = new URLSearchParams(search)
    const isRead = services !== undefined && init.body === undefined
    const mayEnd = !isRead || random.chance(readEnds)
    if (mayEnd && boundary(`fetch ${path}`)) return new Promise(() => {})
    if (process.isAlive) parts.transcript?.request(timeline.nowMs, init.method, url, init.body)
    const body = init.body === undefined ? {} : (JSON.parse(init.body) as Body)
    return new Promise<FetchAnswer>((resolve, reject) => {
      let isOver = false
      const done = (outcome: NetOutcome<Reply>) => {
        if (isOver || !process.isAlive || (mayEnd && boundary(`answer ${path}`))) return
        isOver = true
        if (outcome.kind === 'not-sent') reject(new RequestFailed('connect ECONNREFUSED', { sent: 'no' }))
        else if (outcome.kind === 'broken') reject(new RequestFailed('socket hang up', { sent: 'maybe' }))
        else if (outcome.kind === 'status') resolve(failed(peer, outcome))
        else if (outcome.kind === 'answer') resolve(answered(peer, { path, query }, outcome.value))
      }
      init.signal?.addEventListener('abort', () => {
        if (isOver) return
        isOver = true
        reject(new RequestFailed('aborted', { sent: 'maybe' }))
      })
      if (isRead && !peer.isDown && random.chance(smoothReads)) {
        timeline.after(random.int(5, 150), () => {
          const { status, body: said } = handle(peer, path, query, body)
          done({ kind: 'answer', value: { status, body: said, isWhole: true } })
        })
        return
      }
      network.request<Reply>({
        peer,
        left: () => leaves(peer, path, body),
        handle: () => handle(peer, path, query, body),
        done,
      })
    })
  }

  function leaves(peer: Peer, path: string, body: Body): void {
    const truth: Truth = parts.truth
    if (path === '/orders/txns/submit') {
      const signed = signatures.get(String(body.signature))
      if (signed === undefined) truth.fail('I9', 'a signature left that the key did not make')
      truth.posted(signed.digest, peer.host, String(body.requestId))
    }
    if (path === '/relay/submit') {
      const signed = signedIn(String(body.data))
      if (signed === undefined) truth.fail('I9', 'calldata left that the key did not sign')
      truth.posted(signed.digest, peer.host, undefined)
    }
    if (path === '/orders/txns/status') truth.asked(peer.host, String(body.requestId))
  }

  function signedIn(data: string): SignedMessage | undefined {
    for (const [signature, signed] of signatures) if (data.includes(signature.slice(2))) return signed
    return undefined
  }

  function dateOf(peer: Peer): string {
    return new Date(epochMs + timeline.nowMs + peer.skewMs).toUTCString()
  }

  function answerOf(
    peer: Peer,
    status: number,
    text: string,
    more: Readonly<Record<string, string>> = {},
  ): FetchAnswer {
    const headers: Readonly<Record<string, string>> = { date: dateOf(peer), ...more }
    return { status, headers: { get: (name) => headers[name.toLowerCase()] ?? null }, text: async () => text }
  }

  function failed(peer: Peer, outcome: Extract<NetOutcome<Reply>, { kind: 'status' }>): FetchAnswer {
    const { status, isBackend } = outcome
    if (isBackend) {
      const text = jsonText({ error: { code: 'BACKEND_UNAVAILABLE', message: 'no backend' } })
      return answerOf(peer, status, text)
    }
    const more: Readonly<Record<string, string>> = status === 429 ? { 'retry-after': '2' } : {}
    return answerOf(peer, status, '<html>not now</html>', more)
  }

  function answered(peer: Peer, { path, query }: Asked, reply: Reply): FetchAnswer {
    const text = bodyOf(path, reply)
    services?.heard(path, query, text)
    return answerOf(peer, reply.status, text)
  }

  /** The body, or what a broken host makes of it. */
  function bodyOf(path: string, { body, isWhole }: Reply): string {
    const text = jsonText(body)
    if (isWhole === true || !faults.comes('body-malformed', 0.06)) return text
    const broken = random.pick([
      () => text.slice(0, random.int(0, Math.max(0, text.length - 1))),
      () => '<html>proxy</html>',
      () => '',
      () => 'null',
      // A wrong size in the account's history is a wrong history: nobody can tell. A number of 80 digits is more than the chain
      // can hold and cannot be read; one that can be read would be a lie.
      () =>
        path.startsWith('/trades')
          ? ''
          : text.replace(/"(\d{5,})"/, (_all, digits: string) => `"${digits.repeat(16)}"`),
      () => text.replace(/"status":"[a-z_]+"/, '"status":"half_done"'),
      () => text.replace(/"requestId":"[^"]*"/, `"requestId":"other-${random.hex(4)}"`),
      () => text.replace('[', '{"rows":[').replace(/\]([^\]]*)$/, ']}$1'),
    ])
    return broken()
  }

  function handle(peer: Peer, path: string, query: URLSearchParams, body: Body): Reply {
    const said = services?.reply(peer, path, query)
    if (said !== undefined) return { status: 200, body: said }
    switch (path) {
      case '/orders/txns/prepare':
      case '/orders/txns/edit/prepare':
      case '/orders/txns/cancel/prepare':
      case '/orders/txns/collateral/prepare':
        return prepared(peer, path, body)
      case '/orders/txns/submit':
        return submitted(peer, body)
      case '/orders/txns/status':
        return statusReply(venue.statusAt(peer.host, String(body.requestId)), String(body.requestId))
      case '/relay/submit':
        return relayed(body)
      case '/relay/status':
        return relayReply(String(body.taskId), venue.statusOfTask(peer.host, String(body.taskId)))
      case '/orders':
        return { status: 200, body: venue.listsAt(peer.host).orders.map(orderRow) }
      case '/positions':
        return { status: 200, body: [] }
      case '/trades':
        return tradesReply(venue.listsAt(peer.host).trades.filter((row) => !isMarketCreation(row)))
      case '/trades/search':
        return tradesReply(venue.listsAt(peer.host).trades)
      default:
        throw new Error(`the model does not serve ${path}`)
    }
  }

  function intentAsked(path: string, body: Body): Intent | undefined {
    return [...parts.truth.askable.values()].findLast((intent) => isAsked(intent, path, body))
  }

  function orderRow(order: ModelOrder): unknown {
    const { orderKey, spec, newest, state } = order
    const paid = paying.has(spec.orderType) ? spec.sizeDeltaUsd / (2n * 10n ** 24n) : 0n
    return {
      key: orderKey,
      account,
      receiver: account,
      marketAddress: spec.marketToken,
      initialCollateralTokenAddress: usdc,
      orderType: spec.orderType,
      isLong: spec.direction === 'long',
      sizeDeltaUsd: spec.sizeDeltaUsd,
      initialCollateralDeltaAmount: paid,
      triggerPrice: spec.kept?.triggerPrice ?? 0n,
      acceptablePrice: spec.kept?.acceptablePrice ?? 0n,
      minOutputAmount: spec.kept?.minOutputAmount ?? 0n,
      autoCancel: spec.kept?.autoCancel ?? false,
      isFrozen: state === 'frozen',
      updatedAtTime: newest.block.timestampSeconds,
      validFromTime: spec.role === 'part' ? newest.block.timestampSeconds : 0,
    }
  }

  /** The plain list leaves out the creation of orders at the market; the search, asked for them, shows it. */
  function isMarketCreation({ order, log }: ListRow): boolean {
    return log.event === 'OrderCreated' && [0, 2, 4].includes(order.spec.orderType)
  }

  function tradesReply(rows: readonly ListRow[]): Reply {
    return { status: 200, body: { trades: rows.map(tradeRow), hasMore: false } }
  }

  function tradeRow({ order, log }: ListRow): unknown {
    const { spec } = order
    // Where positions are asked for, a trade says what it moved.
    const movedUsd = services === undefined ? undefined : log.movedUsd
    return {
      id: `${log.transactionHash}:${log.logIndex}`,
      account,
      orderKey: log.orderKey,
      transactionHash: log.transactionHash,
      eventName: log.event,
      orderType: spec.orderType,
      timestamp: log.block.timestampSeconds,
      initialCollateralTokenAddress: usdc,
      initialCollateralDeltaAmount: '0',
      marketAddress: spec.marketToken,
      isLong: spec.direction === 'long',
      sizeDeltaUsd: movedUsd ?? spec.sizeDeltaUsd,
      reason: log.reason,
      ...(log.price === undefined
        ? {}
        : { executionPrice: parts.prices?.toContract(spec.marketToken, log.price) }),
    }
  }

  function prepared(peer: Peer, path: string, body: Body): Reply {
    const intent = intentAsked(path, body)
    if (intent === undefined) throw new Error(`nobody decided what ${path} asks for: ${JSON.stringify(body)}`)
    if (faults.comes('prepare-refused', 0.1))
      return { status: 400, body: { message: 'Insufficient balance', code: 'INSUFFICIENT_BALANCE' } }
    const hostility = faults.comes('prepare-hostile', 0.12) ? random.pick(hostilities) : undefined
    const nowSeconds = Math.floor((epochMs + timeline.nowMs + peer.skewMs) / 1000)
    const deadlineSeconds = nowSeconds + parts.deadlineSeconds()
    const requestId = `req-${random.hex(6)}`
    const times = { nowSeconds, deadlineSeconds }
    const { payload, digest, ...offered } = offerOf(intent, times, random, hostility, parts.delegate)
    venue.offers.set(digest, offered)
    venue.keep(peer.host, { requestId, intentId: intent.intentId, deadlineSeconds, task: undefined })
    return {
      status: 200,
      body: {
        requestId,
        mode: 'express',
        payloadType: 'typed-data',
        expiresAt: deadlineSeconds,
        payload,
        estimates: {},
        validationWarnings: [],
      },
    }
  }

  /** The message behind a signature, as calldata. One message, however often it is handed in. */
  function messageOf(signed: SignedMessage, { creates, userNonce }: Offered): Message {
    const intent = parts.truth.intents.get(signed.intentId)
    if (intent === undefined) throw new Error('a signed intent is unknown')
    signed.message ??= {
      digest: signed.digest,
      signature: signed.signature,
      intentId: signed.intentId,
      deadlineSeconds: parts.truth.deadlineOf(signed.digest) ?? 0,
      userNonce,
      creates: asShaped(specsOf(intent, random), intent, creates).map((spec, index) => ({
        ...spec,
        sizeDeltaUsd: signed.sizesUsd[index] ?? spec.sizeDeltaUsd,
        ...keptOf(signed.kept[index]),
      })),
      changes: expectedOf(intent).changes,
      updates: signed.updates,
      revertsLeft: 0,
    }
    return signed.message
  }

  function submitted(peer: Peer, body: Body): Reply {
    const requestId = String(body.requestId)
    const signed = signatures.get(String(body.signature))
    if (signed === undefined) return { status: 400, body: { message: 'Invalid signature' } }
    const offered = venue.offers.get(signed.digest)
    if (offered === undefined) throw new Error('a message was signed that no host offered')
    const message = messageOf(signed, offered)
    const task = venue.handIn(peer.host, requestId, message)
    if (task === 'unknown-request') return { status: 404, body: { message: 'Transaction not found' } }
    return { status: 200, body: { requestId, status: `relay_${task.word}`, taskId: task.taskId } }
  }

  function relayed(body: Body): Reply {
    const signed = signedIn(String(body.data))
    if (signed === undefined) return { status: 400, body: { message: 'Invalid calldata' } }
    const message = messageOf(signed, offeredIn(String(body.data) as Hex))
    const task = venue.handIn(undefined, undefined, message)
    if (task === 'unknown-request') throw new Error('the relay keeps no requests')
    return { status: 200, body: { taskId: task.taskId, status: relayWord(`relay_${task.word}`) } }
  }
}

function statusReply(answer: HostAnswer, requestId: string): Reply {
  if (answer.kind !== 'status') return { status: 404, body: { message: 'Transaction not found' } }
  const { status, orderKeys, txHash, createdTxnHash, executionTxnHash, cancellationReason } = answer
  return {
    status: 200,
    body: { requestId, status, orderKeys, txHash, createdTxnHash, executionTxnHash, cancellationReason },
  }
}

const relayWords: Readonly<Record<string, string>> = {
  relay_failed: 'failed',
  relay_reverted: 'reverted',
  created: 'executed',
  executed: 'executed',
  cancelled: 'executed',
  unrecognised: 'unknown',
}

function relayWord(status: string): string {
  return relayWords[status] ?? 'pending'
}

function relayReply(taskId: string, answer: HostAnswer): Reply {
  if (answer.kind !== 'status') return { status: 404, body: { message: 'Task not found' } }
  return { status: 200, body: { taskId, status: relayWord(answer.status), txHash: answer.txHash } }
}

/** What of a created order its host may shape. */
interface Created {
  readonly orderType: bigint | number
  readonly numbers: { readonly sizeDeltaUsd: bigint }
}

/** What of a message is in it as it was offered. */
interface Offered {
  readonly creates: readonly Created[]
  readonly userNonce: bigint
}

/** The orders and the nonce in the calldata of a relay router's batch. */
function offeredIn(data: Hex): Offered {
  const { args } = decodeFunctionData({ abi: [...relayRouterAbi, ...subaccountRouterAbi], data })
  const [relayParams] = args
  if (!('userNonce' in relayParams)) throw new Error('calldata without relay parameters')
  const params = args.at(-1)
  const creates =
    typeof params === 'object' && 'createOrderParamsList' in params ? params.createOrderParamsList : []
  return { creates, userNonce: relayParams.userNonce }
}

/** The orders of a message as its host shaped them: in its order, and in the sizes that differ from what was asked. */
function asShaped(
  specs: readonly OrderSpec[],
  { terms }: Intent,
  creates: readonly Created[],
): readonly OrderSpec[] {
  if (creates.length !== specs.length) return specs
  const left = [...specs]
  return creates.flatMap(({ orderType, numbers }) => {
    const at = left.findIndex((spec) => spec.orderType === Number(orderType))
    const [spec] = at < 0 ? [] : left.splice(at, 1)
    if (spec === undefined) return []
    const isWhole = numbers.sizeDeltaUsd === MAX_UINT256 || numbers.sizeDeltaUsd === terms.otherSizeDeltaUsd
    return [isWhole ? { ...spec, sizeDeltaUsd: numbers.sizeDeltaUsd } : spec]
  })
}

/** What a message writes into the order store, of its creates and of its updates. */
export function keptIn(message: unknown): Pick<SignedMessage, 'kept' | 'updates'> {
  const { createOrderParamsList, updateOrderParamsList } = message as {
    readonly createOrderParamsList: readonly {
      readonly numbers: Omit<KeptFields, 'autoCancel'>
      readonly autoCancel: boolean
    }[]
    readonly updateOrderParamsList: readonly (KeptFields & { readonly key: Hex })[]
  }
  return {
    kept: createOrderParamsList.map(({ numbers, autoCancel }) => ({ ...numbers, autoCancel })),
    updates: new Map(updateOrderParamsList.map((update) => [update.key, update])),
  }
}

function keptOf(kept: KeptFields | undefined): { readonly kept?: KeptFields } {
  return kept === undefined ? {} : { kept }
}

/** Orders that hold what they pay while they wait. */
const paying: ReadonlySet<number> = new Set([2, 3, 8])

/** Whether this is the intent that a prepare route is asked for; equal ones are asked for alike. */
function isAsked({ kind, terms }: Intent, path: string, body: Body): boolean {
  const isAmount = (value: unknown, amount: bigint | undefined) => String(value) === String(amount)
  const [key] = (body.orderIds ?? []) as readonly string[]
  if (path.includes('/cancel/')) return kind === 'cancel' && terms.cancelOrderKeys?.[0] === key
  if (path.includes('/edit/'))
    return terms.edit?.orderKey === key && isAmount(body.newSize, terms.edit?.sizeDeltaUsd)
  if (path.includes('/collateral/'))
    return terms.positionKey === body.positionKey && isAmount(body.amount, terms.collateralDelta)
  const paid = (body.collateralToPay ?? {}) as { readonly amount?: string }
  if (body.kind === 'swap') return kind === 'swap' && isAmount(paid.amount, terms.collateralDelta)
  const isKind = body.kind === 'increase' ? kind === 'increase' : kind === 'decrease' || kind === 'close'
  return (
    isKind &&
    isAmount(body.size, terms.sizeDeltaUsd) &&
    body.symbol === terms.symbol &&
    body.direction === terms.direction &&
    body.orderType === terms.orderType &&
    isAmount(body.triggerPrice, terms.triggerPrice) &&
    (body.kind !== 'increase' || isAmount(paid.amount, terms.collateralDelta))
  )
}
