/**
 * What carries JSON-RPC between `src/chain` and the modelled chain: each endpoint's illness as it shows on a wire, and faults
 * of the wire itself. Requests wait on the timeline; nothing of a process that has ended is answered.
 */
import type { RpcFetch } from '../../src/chain/wire/httpTransport.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { DaemonParts } from './daemon.ts'
import { type Endpoint, finalOf } from './endpoints.ts'
import { damaged, outage, passingOutage, type Reply, type Row } from './rpcDamage.ts'
import { lieOf } from './rpcLies.ts'
import { answerOf, type Call, type NodeState, passes, Refusal } from './rpcNode.ts'
import { counterfeit, orderRow, quantity } from './rpcRows.ts'

/** Address of an endpoint by its name. */
export function endpointUrl({ name }: Endpoint): string {
  return `http://${name}.rpc.test/`
}

/** Longest wait for an answer, ms. */
const rpcTimeoutMs = 3_000

/** The fetch of one process of the daemon. */
export function createRpcFetch(
  parts: Pick<
    DaemonParts,
    'chain' | 'endpoints' | 'faults' | 'process' | 'random' | 'timeline' | 'transcript'
  >,
  account: string,
): RpcFetch {
  const { chain, endpoints, faults, process, random, timeline } = parts
  const habits = new Map(
    endpoints.map((endpoint) => [
      endpointUrl(endpoint),
      {
        endpoint,
        maxSpan: faults.comes('rpc-range-limit', 0.5) ? BigInt(random.int(64, 300)) : undefined,
        /** Until then its address leads to a node of another chain. */
        elsewhereUntilMs: faults.comes('rpc-elsewhere', 0.3) ? timeline.nowMs + random.int(1_000, 60_000) : 0,
      },
    ]),
  )
  type Habit = NonNullable<ReturnType<typeof habits.get>>

  return (url, { body, signal }) => {
    const habit = habits.get(url)
    if (habit === undefined) throw new Error(`the model has no endpoint at ${url}`)
    if (process.isAlive) parts.transcript?.call(timeline.nowMs, url, body)
    return new Promise((resolve, reject) => {
      let isOver = signal.aborted
      const fail = (text: string) => {
        if (isOver || !process.isAlive) return
        isOver = true
        reject(new Error(text))
      }
      signal.addEventListener('abort', () => fail('aborted'), { once: true })
      if (isOver) return reject(new Error('aborted'))
      timeline.after(random.int(1, 80), () => {
        if (isOver || !process.isAlive) return
        const reply = replyTo(habit, body)
        if (reply === 'never') return
        if (reply === 'closed') return fail('socket hang up')
        const deliver = () => {
          if (isOver || !process.isAlive) return
          isOver = true
          resolve({ status: reply.status, text: async () => reply.text })
        }
        if (faults.comes('rpc-slow', 0.02)) {
          if (random.chance(0.7)) timeline.after(random.int(rpcTimeoutMs / 2, rpcTimeoutMs * 3), deliver)
        } else if (random.chance(0.2)) timeline.after(random.int(1, 200), deliver)
        else deliver()
      })
    })
  }

  function replyTo(habit: Habit, body: string): Reply {
    const { illness } = habit.endpoint
    if (illness?.kind === 'error') return outage(random)
    const passing = passingOutage(faults, random)
    if (passing !== undefined) return passing
    const asked = JSON.parse(body) as Call | readonly Call[]
    const calls: readonly Call[] = Array.isArray(asked) ? asked : [asked]
    const answers = answersTo(habit, calls)
    const isBatch = Array.isArray(asked)
    const whole = damaged(answers, faults, random)
    const text = JSON.stringify(isBatch ? whole : (whole[0] ?? null))
    if (faults.comes('rpc-truncated', 0.02))
      return { status: 200, text: text.slice(0, random.int(0, text.length - 1)) }
    return { status: 200, text }
  }

  // --- answers -----------------------------------------------------------------------------------------------------

  function answersTo(habit: Habit, calls: readonly Call[]): Row[] {
    const isSplit = habit.endpoint.illness?.kind === 'pool' && random.chance(0.5)
    const one = stateOf(habit)
    return calls.map((call) => {
      const base = { jsonrpc: '2.0', id: call.id }
      const state = isSplit ? stateOf(habit) : one
      try {
        if (faults.comes('rpc-pruned', call.method === 'eth_call' ? 0.02 : 0))
          throw new Refusal(-32000, 'missing trie node')
        const { illness } = habit.endpoint
        const lie = illness?.kind === 'liar' ? lieOf(illness, state, call) : undefined
        const told = lie === undefined ? answerOf(state, call) : lie.result
        const result = illness?.kind === 'moved' ? movedBy(illness.seconds, told) : told
        return { ...base, result: call.method === 'eth_getLogs' ? strange(result, state, call) : result }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return { ...base, error: { code: error.code, message: error.message } }
      }
    })
  }

  /** The node that a request comes to. */
  function stateOf({ endpoint: { illness }, maxSpan, elsewhereUntilMs }: Habit): NodeState {
    const branch = illness?.kind === 'fork' ? illness.branch : chain.canonical
    const lag =
      illness?.kind === 'lag' ? illness.blocks : illness?.kind === 'pool' ? random.pick(illness.lags) : 0
    const tip = branch.blocks[Math.max(0, branch.blocks.length - 1 - lag)] ?? branch.tip
    const final = finalOf(chain, branch, tip, timeline.nowMs)
    const limits = maxSpan === undefined ? {} : { maxSpan }
    const state = { chain, branch, tip: tip.number, final, account, ...limits }
    if (timeline.nowMs < elsewhereUntilMs) return { ...state, chainId: 1, isBlind: true, says: 'unused' }
    if (illness?.kind !== 'blind') return state
    switch (illness.how) {
      case 'all':
        return { ...state, isBlind: true }
      case 'events':
        return { ...state, indexedTo: tip.number - 12n }
      case 'state':
        return { ...state, stateFrom: tip.number }
    }
  }

  // --- damage ------------------------------------------------------------------------------------------------------

  /** Logs that nobody asked for, or that the chain took back, among those that were. */
  function strange(result: unknown, { branch, tip }: NodeState, { params }: Call): unknown {
    const rows = result as Row[]
    const filter = params[0] as { fromBlock: Hex; toBlock: Hex; topics: [] }
    const isInRange = (number: bigint) =>
      number <= tip && number >= BigInt(filter.fromBlock) && number <= BigInt(filter.toBlock)
    if (faults.isOn('rpc-strange-log')) {
      const ends = endsOfOpen().filter((row) => isInRange(BigInt(row.blockNumber)))
      if (ends.length > 0 && faults.comes('rpc-strange-log', 0.1)) return [...rows, random.pick(ends)]
    }
    if (faults.isOn('rpc-removed')) {
      const gone = chain.left
        .flatMap((left) => left.logs)
        .filter(({ block }) => isInRange(block.number) && !branch.holds(block))
        .filter((log) => passes(orderRow(log, account), { topics: filter.topics }))
      // An end of what is open again does the most harm.
      const worst = gone.filter(({ orderKey, event }) => {
        const state = branch.orders.get(orderKey)?.state
        return (event === 'OrderExecuted' || event === 'OrderCancelled') && state === 'open'
      })
      if (gone.length > 0 && faults.comes('rpc-removed', 0.2)) {
        const log = random.pick(worst.length > 0 ? worst : gone)
        return [...rows, { ...orderRow(log, account), removed: true }]
      }
    }
    return rows

    /** Ends of orders that are open in truth, told by a contract that is not the protocol's. */
    function endsOfOpen() {
      return [...branch.orders.values()]
        .filter(({ state }) => state === 'open' || state === 'frozen')
        .map(({ created }) => {
          const event = random.pick(['OrderExecuted', 'OrderCancelled'] as const)
          return counterfeit(orderRow({ ...created, event }, account))
        })
    }
  }
}

/** A block with its time moved; anything else as it is. */
function movedBy(seconds: number, result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('timestamp' in result)) return result
  return { ...result, timestamp: quantity(Number(result.timestamp) + seconds) }
}

/** The chain that the daemon of a world is told to read. */
export const rpcChain = {
  chainId: arbitrum.chainId,
  eventEmitter: arbitrum.contracts.eventEmitter,
  wrappedNative: arbitrum.contracts.wrappedNative,
  markets: arbitrum.facts.markets,
  multicall: arbitrum.contracts.multicall,
  finality: 'safe',
  timeoutMs: rpcTimeoutMs,
  maxLogSpan: 10_000,
} as const
