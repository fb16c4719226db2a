/** Checks of the chain's endpoints: whose chain, how far apart, how deep their past, and what stands at the router's address. */
import type { Fetch } from '../../api/transport/route.ts'
import type { UnreachedCause } from '../../api/transport/unreachedCauses.ts'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { endpointNames } from '../../chain/connectEndpoints.ts'
import { createRpcClient, type RpcAnswer, type RpcClient } from '../../chain/wire/jsonRpc.ts'
import { createSocketTransport } from '../../chain/wire/socketTransport.ts'
import type { Config } from '../../config/configTypes.ts'
import type { EvidenceChoice } from '../../daemon/evidence/evidenceSource.ts'
import { checkRouterCode } from '../../daemon/evidence/routerCode.ts'
import { rpcClients } from '../../daemon/evidence/rpcClients.ts'
import { counted, span } from '../../monitor/text.ts'
import { ZERO_ADDRESS } from '../../protocol/address.ts'
import type { Finality } from '../../protocol/chains/finality.ts'
import { bounded, type Finding, fail, faultFinding, pass, warn } from './finding.ts'
import { unreachedCause } from './unreachedCause.ts'

/** Depths at which the doctor asks an endpoint for past blocks, in blocks below the head, nearest first. */
const DEPTHS = [128, 10_000, 1_000_000] as const
/** Heads whose times are apart by more than this do not agree, seconds. */
const APART_SECONDS = 30
/** A head that is older than this is no head, seconds. */
const STALE_SECONDS = 120

/** Answers of one endpoint. */
export interface EndpointLook {
  readonly name: string
  readonly tookMs: number
  readonly chainId: number | undefined
  readonly head: { readonly number: number; readonly timeSeconds: number } | undefined
  /** Deepest of `DEPTHS` whose state it has; 0 when it has none of them. */
  readonly depth: number
  /** The tag of final blocks, if it knows no block as that. */
  readonly lacksTag?: Finality
  /** Why it did not answer. */
  readonly fault?: { readonly text: string } & Partial<UnreachedCause>
}

/** Looks at every endpoint, and holds them against each other. */
export async function checkChain(
  config: Config,
  evidence: EvidenceChoice,
  fetch: Fetch,
): Promise<readonly Finding[]> {
  if (evidence.source === 'api') {
    return [
      evidence.isWeak
        ? warn(
            'chain',
            evidence.text,
            'Set rpc.http to one endpoint of the chain, or better two of different providers.',
          )
        : pass('chain', evidence.text),
    ]
  }
  const { timeoutMs } = config.rpc
  const sockets = evidence.ws.map((url) => createSocketTransport(url.reveal(), systemClock))
  const names = endpointNames(evidence.ws.map((url) => url.reveal()))
  const clients = [
    ...rpcClients(evidence, timeoutMs, fetch),
    ...sockets.map((socket, at) =>
      createRpcClient(`${names[at]} (ws)`, socket, systemClock, { timeoutMs, batchSize: 1 }),
    ),
  ]
  const late = new AbortController()
  try {
    // A connection is asked once it stands, or failed: before that it only says that there is none yet.
    await Promise.race([
      Promise.all(sockets.map(({ tried }) => tried)),
      systemClock.sleep(timeoutMs, late.signal),
    ])
    const looks = await Promise.all(clients.map((client) => lookAt(client, evidence.finality)))
    const nowSeconds = systemClock.now() / 1_000
    return [
      ...looks.map((look) => endpointFinding(look, config.venue.chain.chainId, nowSeconds)),
      ...agreement(looks),
      ...(await bounded('router', 'Set another endpoint: rpc.http', () =>
        routerFindings(config, evidence, fetch),
      )),
    ]
  } finally {
    late.abort()
    for (const client of clients) client.close()
  }
}

async function lookAt(client: RpcClient, finality: Finality): Promise<EndpointLook> {
  const { name } = client
  const startMs = systemClock.monotonicMs()
  const nothing = { name, chainId: undefined, head: undefined, depth: 0 }
  try {
    const chainId = numberIn(await ask(client, 'eth_chainId', []))
    const tookMs = systemClock.monotonicMs() - startMs
    const block = resultIn(await ask(client, 'eth_getBlockByNumber', ['latest', false]))
    const [number, timeSeconds] = [
      hexNumber(fieldOf(block, 'number')),
      hexNumber(fieldOf(block, 'timestamp')),
    ]
    if (chainId === undefined || number === undefined || timeSeconds === undefined)
      return { ...nothing, tookMs, fault: { text: 'its response is not a block' } }
    const isKnown = typeof finality !== 'string' || (await knowsTag(client, finality))
    return {
      name,
      tookMs,
      chainId,
      head: { number, timeSeconds },
      depth: await depthOf(client, number),
      ...defined({ lacksTag: isKnown ? undefined : finality }),
    }
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const fault = unreachedCause(error) ?? { text: error.shortMessage }
    return { ...nothing, tookMs: systemClock.monotonicMs() - startMs, fault }
  }
}

/** Tells whether it has a block of that name. */
async function knowsTag(client: RpcClient, tag: string): Promise<boolean> {
  const block = resultIn(await ask(client, 'eth_getBlockByNumber', [tag, false]))
  return hexNumber(fieldOf(block, 'number')) !== undefined
}

/** The deepest past whose state it shows. */
async function depthOf(client: RpcClient, head: number): Promise<number> {
  let deepest = 0
  for (const depth of DEPTHS) {
    if (head < depth) return head
    const at = `0x${(head - depth).toString(16)}`
    if (numberIn(await ask(client, 'eth_getBalance', [ZERO_ADDRESS, at]), true) === undefined) return deepest
    deepest = depth
  }
  return deepest
}

async function ask(
  client: RpcClient,
  method: string,
  params: readonly unknown[],
): Promise<RpcAnswer | undefined> {
  const [answer] = await client.request([{ method, params }], new AbortController().signal)
  return answer
}

function resultIn(answer: RpcAnswer | undefined): unknown {
  return answer !== undefined && 'result' in answer ? answer.result : undefined
}

/** A number of an answer; `isAmount`: it may be larger than a number is exact, and only that it is there counts. */
function numberIn(answer: RpcAnswer | undefined, isAmount = false): number | undefined {
  const result = resultIn(answer)
  if (isAmount) return typeof result === 'string' && /^0x[0-9a-f]+$/i.test(result) ? 0 : undefined
  return hexNumber(result)
}

function hexNumber(value: unknown): number | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : undefined
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** Reports what one endpoint can be used for. */
export function endpointFinding(look: EndpointLook, chainId: number, nowSeconds: number): Finding {
  if (look.fault !== undefined || look.head === undefined)
    return fail(
      'endpoint',
      `${look.name}: ${look.fault?.text ?? 'no answer'}`,
      look.fault?.remedy ?? 'Set another endpoint in rpc.http, or ask its provider.',
    )
  if (look.chainId !== chainId)
    return fail(
      'endpoint',
      `${look.name} serves chain ${look.chainId}, not ${chainId}`,
      'Set an endpoint of this chain in rpc.http.',
    )
  if (look.lacksTag !== undefined)
    return fail(
      'endpoint',
      `${look.name} has no ${look.lacksTag} block: no order could ever be proven`,
      'Set rpc.finality to a number of blocks behind the newest, or set another endpoint in rpc.http.',
    )
  const behind = Math.max(0, nowSeconds - look.head.timeSeconds)
  const past = look.depth >= 1_000_000 ? 'archive node' : `history of ${counted(look.depth, 'block')} or more`
  const text = `${look.name} answers in ${span(look.tookMs)}, block ${look.head.number}, ${span(behind * 1_000)} old; ${past}`
  if (behind > STALE_SECONDS)
    return fail('endpoint', text, 'It is behind the chain: set another in rpc.http.')
  return look.depth < DEPTHS[0]
    ? warn(
        'endpoint',
        text,
        'perpd reads blocks of the last hour at a restart: set an endpoint that has them.',
      )
    : pass('endpoint', text)
}

/** Reports whether the endpoints that answer see the same head, judged by its time. */
export function agreement(looks: readonly EndpointLook[]): readonly Finding[] {
  const heads = looks.flatMap(({ name, head }) => (head === undefined ? [] : [{ name, ...head }]))
  const [first] = heads
  if (heads.length < 2 || first === undefined) return []
  const sorted = heads.toSorted((one, other) => one.number - other.number)
  const [low = first, high = first] = [sorted[0], sorted.at(-1)]
  const text = `the heads are ${counted(high.number - low.number, 'block')} apart`
  return Math.abs(high.timeSeconds - low.timeSeconds) > APART_SECONDS
    ? [warn('endpoints', `${text}: ${low.name} is behind`, 'Proofs wait for the slower one: replace it.')]
    : [pass('endpoints', text)]
}

/** The code at the address that signatures are for, as the daemon checks it at its start. */
async function routerFindings(
  config: Config,
  evidence: EvidenceChoice,
  fetch: Fetch,
): Promise<readonly Finding[]> {
  try {
    const found = await checkRouterCode(config, evidence, fetch)
    if (found === undefined) return []
    return [
      found.isWeak ? warn('router', found.text, 'Repeat when they answer.') : pass('router', found.text),
    ]
  } catch (error) {
    return [faultFinding('router', error, 'Set another endpoint: rpc.http')]
  }
}
