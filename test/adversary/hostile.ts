/** Hosts and endpoints that lie by a plan, between the daemon and the venue. What they are made to sign can land. */
import type { Fetch, FetchAnswer } from '../../src/api/transport/route.ts'
import { stringify } from '../../src/paper/http/http.ts'
import { newPosition } from '../../src/paper/math/positionMath.ts'
import { positionRow } from '../../src/paper/prepare/positionRows.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import { storePosition } from '../../src/paper/state/accounts.ts'
import type { PositionRecord } from '../../src/paper/state/venueRecords.ts'
import { tokenPrice } from '../../src/paper/state/venueState.ts'
import { findRecord, keepRecord, type OrderChainRecord } from '../../src/paper/venue/peer.ts'
import { hashRelayParams, positionKeyOf } from '../../src/protocol/signing/relayRouter.ts'
import { account } from './daemon.ts'
import { type Change, changedBody, type LiarKind, type Lie, type Plan } from './lies.ts'

/** What a lying road is made of. */
export interface HostileParts {
  readonly venue: Venue
  readonly kind: LiarKind
  readonly plan: Plan
  /** Who lies instead of the kind's liars, by kind and number: `oracle/0`, `api/1`, `rpc/0`. */
  readonly liars?: readonly string[] | undefined
  /** The honest way. */
  readonly honest: Fetch
  /** Since the beginning, ms. */
  readonly nowMs: () => number
  readonly note: (text: string) => void
}

/** Which hosts lie: path prefixes of the venue. */
function liarsOf({ paths }: Venue, kind: LiarKind): readonly string[] {
  const [one = '', other = ''] = paths.api
  switch (kind) {
    case 'nobody':
      return []
    case 'prepare':
    case 'host':
      return [one]
    case 'hosts':
      return [one, other]
    case 'oracle':
      return [one, other, ...paths.oracle]
    case 'endpoint':
      return paths.rpc.slice(0, 1)
  }
}

/** The path prefix of a host by its kind and number, as `oracle/0`. Throws TypeError for one that the venue does not have. */
function prefixOf({ paths }: Venue, name: string): string {
  const [kind = '', at = ''] = name.split('/')
  const found = kind in paths ? paths[kind as keyof Venue['paths']][Number(at)] : undefined
  if (found === undefined) throw new TypeError(`the venue has no host ${name}`)
  return found
}

/** The path prefix of the liar that a path lies under. A named endpoint is its own path alone: others lie below the first one's. */
function liarAt(
  venue: Venue,
  liars: readonly string[],
  isNamed: boolean,
  pathname: string,
): string | undefined {
  return liars.find(
    (prefix) =>
      pathname === prefix ||
      (pathname.startsWith(`${prefix}/`) && !(isNamed && venue.paths.rpc.includes(pathname))),
  )
}

/** A fetch of which some hosts lie. */
export function hostileFetch(parts: HostileParts): Fetch {
  const { venue, kind, plan, honest, nowMs, note } = parts
  const isNamed = parts.liars !== undefined
  const liars = parts.liars?.map((name) => prefixOf(venue, name)) ?? liarsOf(venue, kind)
  const asked = plan.map(() => 0)
  const frozen = new Map<string, string>()
  const lagging = new Map<string, { readonly text: string; readonly atMs: number }>()
  const isOf = (lie: Lie, liar: string): boolean =>
    lie.host === undefined || prefixOf(venue, lie.host) === liar

  /** The lies that apply to this request now, counted. */
  function liesFor(liar: string, path: string, methods: readonly string[]): readonly Lie[] {
    return plan.filter((lie, index) => {
      if (!isOf(lie, liar)) return false
      const isMeant = lie.change.op === 'date' || path.endsWith(lie.route) || methods.includes(lie.route)
      if (!isMeant || nowMs() < lie.fromMs || nowMs() > lie.untilMs) return false
      asked[index] = (asked[index] ?? 0) + 1
      return ((asked[index] ?? 0) - 1) % lie.every === 0
    })
  }

  /** The end of a request that never reaches the venue now, where a lie is that. */
  function silenceFor(
    liar: string,
    path: string,
    init: Parameters<Fetch>[1],
  ): Promise<FetchAnswer> | undefined {
    const silent = plan.find((lie) => {
      const { change, route, fromMs, untilMs } = lie
      return (
        isOf(lie, liar) &&
        (change.op === 'hang' || change.op === 'answer' || change.op === 'withhold') &&
        path.endsWith(route) &&
        nowMs() >= fromMs &&
        nowMs() <= untilMs
      )
    })?.change
    if (silent?.op === 'answer') return Promise.resolve(bareAnswer(silent.status))
    if (silent?.op === 'withhold') {
      note(`withheld ${path}`)
      return Promise.resolve(bareAnswer(200, acceptedOf(path, init.body)))
    }
    if (silent?.op !== 'hang') return undefined
    return new Promise((_answer, fail) => {
      const { signal } = init
      if (signal === undefined) return
      const end = (): void => fail(signal.reason)
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
  }

  return async (url, init) => {
    const { pathname, search } = new URL(url)
    const liar = liarAt(venue, liars, isNamed, pathname)
    if (liar === undefined) return honest(url, init)
    const path = pathname.slice(liar.length)
    const silent = silenceFor(liar, path, init)
    if (silent !== undefined) return await silent
    const made = path === '/orders/txns/prepare' ? inventedNow() : []
    // Who invents a position prepares its close too, and the chain knows nothing of it.
    for (const record of made) if (record !== undefined) storePosition(venue.venueState, record, record.state)
    let answer: FetchAnswer
    try {
      answer = await honest(url, init)
    } finally {
      for (const record of made) if (record !== undefined) storePosition(venue.venueState, record, undefined)
    }
    const methods = venue.paths.rpc.includes(pathname) ? methodsOf(init.body) : []
    const lies = liesFor(liar, path, methods)
    if (lies.length === 0 || answer.status >= 400) return answer
    let text = await answer.text()
    let dateMs = 0
    for (const { change, route } of lies) {
      if (change.op === 'date') {
        dateMs += change.seconds * 1_000
        continue
      }
      const told = toldText(text, change, { path: `${path}${search}`, liar, route, methods, body: init.body })
      if (told !== text) note(`lie ${path} ${change.op}`)
      text = told
    }
    return movedDate({ ...answer, text: async () => text }, dateMs)
  }

  /** Positions that a lie of now invents, where none is. */
  function inventedNow() {
    return plan.flatMap(({ change, fromMs, untilMs }) => {
      if (change.op !== 'invent' || nowMs() < fromMs || nowMs() > untilMs) return []
      const record = inventedPosition(venue, change)
      return record === undefined || venue.venueState.positions.has(record.contractKey) ? [] : [record]
    })
  }

  interface Asked {
    readonly path: string
    readonly liar: string
    readonly route: string
    readonly methods: readonly string[]
    readonly body: string | undefined
  }

  function toldText(text: string, change: Change, { path, liar, route, methods, body }: Asked): string {
    if (change.op === 'bomb') return `${'['.repeat(change.depth)}${']'.repeat(change.depth)}`
    if (change.op === 'freeze') {
      const key = `${liar} ${path} ${body ?? ''}`
      const before = frozen.get(key)
      if (before === undefined) frozen.set(key, text)
      return before ?? text
    }
    if (change.op === 'lag') {
      const key = `${liar} ${path} ${body ?? ''}`
      const before = lagging.get(key)
      if (before !== undefined && nowMs() - before.atMs < change.seconds * 1_000) return before.text
      lagging.set(key, { text, atMs: nowMs() })
      return text
    }
    const parsed: unknown = JSON.parse(text)
    if (change.op === 'message') return stringify(changedMessage(venue, liar, parsed, change) as never)
    if (change.op === 'invent')
      return JSON.stringify([...(parsed as unknown[]), ...inventedRows(venue, change)])
    if (methods.length > 0) return JSON.stringify(changedRpc(parsed, methods, route, change))
    return JSON.stringify(changedBody(parsed, change))
  }
}

function bareAnswer(status: number, text = '{}'): FetchAnswer {
  return { status, headers: { get: () => null }, text: async () => text }
}

/** The answer of a host that took a message. */
function acceptedOf(path: string, body: string | undefined): string {
  const { requestId } = JSON.parse(body ?? '{}') as { readonly requestId?: string }
  const taskId = `0x${'ab'.repeat(32)}`
  return path.endsWith('/relay/submit')
    ? JSON.stringify({ taskId, status: 'pending' })
    : JSON.stringify({ requestId, status: 'relay_accepted', taskId })
}

function movedDate(answer: FetchAnswer, ms: number): FetchAnswer {
  if (ms === 0) return answer
  return {
    ...answer,
    headers: {
      get: (name) => {
        const value = answer.headers.get(name)
        return name.toLowerCase() === 'date' && value !== null
          ? new Date(Date.parse(value) + ms).toUTCString()
          : value
      },
    },
  }
}

// --- messages ------------------------------------------------------------------------------------------------------

type Tree = unknown

/** The same tree with the values of one name changed, texts and bigints alike. */
function withField(tree: Tree, field: string, change: (value: bigint | string) => unknown): Tree {
  if (Array.isArray(tree)) return tree.map((each) => withField(each, field, change))
  if (typeof tree !== 'object' || tree === null) return tree
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => {
      const isMeant = key === field && (typeof value === 'bigint' || typeof value === 'string')
      return [key, isMeant ? change(value) : withField(value, field, change)]
    }),
  )
}

/** The same tree without the builder's inputs: nobody has to show them, and they would say what was meant. */
function withoutInputs(tree: Tree): Tree {
  if (Array.isArray(tree)) return tree.map(withoutInputs)
  if (typeof tree !== 'object' || tree === null) return tree
  const left = Object.entries(tree).filter(([key]) => key !== 'params' && key !== 'tokenTransfersParams')
  return Object.fromEntries(left.map(([key, value]) => [key, withoutInputs(value)]))
}

/** Market increases and decreases: their acceptable price is of the host's own feed. */
const marketTypes: ReadonlySet<bigint> = new Set([2n, 4n])

/**
 * A prepared message in another shape: in the answer, in all its copies, and in the records of the host, so that it lands. A liar
 * who knows his trade shows no inputs beside it.
 */
function changedMessage(
  venue: Venue,
  liar: string,
  body: unknown,
  { field, value, ppm = 1_000_000, isMarket }: Extract<Change, { op: 'message' }>,
): unknown {
  const peer = venue.peers.find(({ host }) => liar.includes(host))
  if (peer === undefined || typeof body !== 'object' || body === null) return body
  const record = findRecord(peer, body as Readonly<Record<string, unknown>>)
  if (record === undefined) return body
  const isMeant = ({ orderType }: { readonly orderType: bigint }): boolean => marketTypes.has(orderType)
  if (isMarket === true && !record.batch.createOrderParamsList.every(isMeant)) return body
  const ofBig = (before: bigint): bigint =>
    value === undefined ? (before * BigInt(ppm)) / 1_000_000n : BigInt(value)
  const changed = (before: bigint | string): unknown => {
    if (typeof before === 'bigint') return ofBig(before)
    if (/^\d+$/.test(before)) return String(ofBig(BigInt(before)))
    return value ?? before
  }
  const relayParams = withField(record.relayParams, field, changed) as OrderChainRecord['relayParams']
  const relayHash = hashRelayParams(relayParams)
  const batch = {
    ...(withField(record.batch, field, changed) as OrderChainRecord['batch']),
    relayParams: relayHash,
  }
  const payload = withField(
    withField(withoutInputs((body as Record<string, unknown>).payload), field, changed),
    'relayParams',
    () => relayHash,
  ) as Record<string, unknown>
  keepRecord(peer, {
    ...record,
    batch,
    relayParams,
    batchParamsText: JSON.stringify(payload.batchParams ?? null),
    relayParamsText: JSON.stringify(payload.relayParams ?? null),
    expiresAtSeconds: Number(relayParams.deadline),
  })
  return { ...body, payload }
}

// --- positions -----------------------------------------------------------------------------------------------------

/** A position that nobody holds, near to its liquidation. */
function inventedPosition(
  { venueState }: Venue,
  { symbol, isLong, sizeUsd }: Extract<Change, { op: 'invent' }>,
): PositionRecord | undefined {
  const market = venueState.markets.find(({ catalog }) => catalog.symbol === symbol)
  if (market === undefined) return undefined
  const seconds = Math.floor(venueState.clock.now() / 1000)
  const price = tokenPrice(venueState, market.indexToken, seconds).max
  const collateral = tokenPrice(venueState, market.shortToken, seconds).min
  const sizeInUsd = BigInt(sizeUsd) * 10n ** 30n
  const state = {
    ...newPosition(market.settings, market.state, isLong ? 'long' : 'short', 1),
    sizeInUsd,
    sizeInTokens: sizeInUsd / price,
    collateralAmount: sizeInUsd / 60n / collateral,
    increasedAtSeconds: seconds - 600,
  }
  const { marketToken } = market.catalog
  const contractKey = positionKeyOf(account, marketToken, market.shortToken.address, isLong)
  return { contractKey, account, marketKey: market.key, collateralToken: market.shortToken, state }
}

/** Its row as the venue would show it. */
function inventedRows(venue: Venue, change: Extract<Change, { op: 'invent' }>): readonly unknown[] {
  const record = inventedPosition(venue, change)
  return record === undefined ? [] : [positionRow(venue.venueState, record, venue.venueState.clock.now())]
}

// --- endpoints -----------------------------------------------------------------------------------------------------

interface RpcCall {
  readonly id: unknown
  readonly method: string
}

function callsOf(body: string | undefined): readonly RpcCall[] {
  if (body === undefined) return []
  const parsed: unknown = JSON.parse(body)
  return (Array.isArray(parsed) ? parsed : [parsed]) as readonly RpcCall[]
}

function methodsOf(body: string | undefined): readonly string[] {
  return callsOf(body).map(({ method }) => method)
}

/** The answers of a batch, those to the lie's method changed. */
function changedRpc(parsed: unknown, methods: readonly string[], route: string, change: Change): unknown {
  const answers = (Array.isArray(parsed) ? parsed : [parsed]) as readonly Record<string, unknown>[]
  const changed = answers.map((answer, at) => {
    if (methods[at] !== route || answer.result === undefined) return answer
    return { ...answer, result: changedResult(answer.result, change) }
  })
  return Array.isArray(parsed) ? changed : changed[0]
}

function changedResult(result: unknown, change: Change): unknown {
  switch (change.op) {
    case 'blockTime': {
      const block = result as Record<string, unknown> | null
      if (block === null || typeof block.timestamp !== 'string') return result
      return { ...block, timestamp: `0x${(BigInt(block.timestamp) + BigInt(change.seconds)).toString(16)}` }
    }
    case 'words': {
      const turned = (value: unknown): unknown => {
        if (Array.isArray(value)) return value.map(turned)
        if (typeof value === 'object' && value !== null)
          return Object.fromEntries(
            Object.entries(value).map(([key, each]) => [
              key,
              key === 'data' || key === 'baseFeePerGas' ? turned(each) : each,
            ]),
          )
        return typeof value === 'string' && value.startsWith('0x')
          ? `0x${value.slice(2).replace(/.$/, (digit) => (digit === change.from ? change.to : digit))}`
          : value
      }
      return turned(result)
    }
    default:
      return changedBody(result, change)
  }
}
