/**
 * The JSON-RPC endpoints of a chain: two nodes that agree, until a fault makes the second one lag behind or follow a fork.
 * A node is a view of the venue: the same methods answer from it, with the blocks that this node knows.
 */
import { hexKey } from '../../protocol/address.ts'
import { type BlockChain, blockOf, headAt } from '../blocks/blockChain.ts'
import type { VenueState } from './venueState.ts'

/** Endpoints of a chain. */
export const RPC_ENDPOINTS = 2

/** Name of an endpoint among the hosts that faults know: `rpc/0`, `rpc/1`. */
export function rpcHostOf(index: number): string {
  return `rpc/${index}`
}

/** Path of an endpoint behind a venue's prefix: `/rpc` and `/rpc/1`, `/ws` and `/ws/1`. */
export function rpcPathOf(transport: 'rpc' | 'ws', index: number): string {
  return index === 0 ? `/${transport}` : `/${transport}/${index}`
}

const presents = new WeakMap<VenueState, VenueState>()

/** The venue itself of a node's view. */
export function presentOf(view: VenueState): VenueState {
  return presents.get(view) ?? view
}

const views = new WeakMap<VenueState, VenueState>()

/** Returns an endpoint's view of the venue; the first endpoint is always right. */
export function endpointState(venueState: VenueState, index: number): VenueState {
  if (index === 0) return venueState
  let view = views.get(venueState)
  if (view === undefined) {
    view = secondView(venueState)
    views.set(venueState, view)
    presents.set(view, venueState)
  }
  return view
}

/** The branch that the second node follows while the fault is on. */
interface Branch {
  readonly blockChain: BlockChain
  readonly usedDigests: ReadonlySet<string>
}

function secondView(venueState: VenueState): VenueState {
  let branch: Branch | undefined
  const followed = (): Branch | undefined => {
    if (venueState.dataFaults.rpcFork === 'none') branch = undefined
    else branch ??= branchOff(venueState)
    return branch
  }
  const clock = {
    ...venueState.clock,
    now: () =>
      venueState.clock.now() - venueState.dataFaults.rpcLagBlocks * venueState.blockChain.blockTimeMs,
  }
  return Object.create(venueState, {
    clock: { value: clock },
    blockChain: { get: () => followed()?.blockChain ?? venueState.blockChain },
    usedDigests: { get: () => followed()?.usedDigests ?? venueState.usedDigests },
  }) as VenueState
}

/**
 * The chain of a node that leaves the common one `rpcForkBlocks` before the head: other blocks with nothing in them, for as
 * long as it follows them.
 */
function branchOff({ blockChain, clock, dataFaults, usedDigests }: VenueState): Branch {
  const first = Math.max(
    blockChain.firstNumber,
    headAt(blockChain, clock.now()) - dataFaults.rpcForkBlocks + 1,
  )
  const isShared = (transaction: BlockChain['transactions'][number]): boolean =>
    blockOf(transaction).number < first
  const transactions = blockChain.transactions.filter(isShared)
  const missing = blockChain.transactions.filter((one) => !isShared(one))
  const digests = new Set(usedDigests)
  for (const { digest } of missing) if (digest !== undefined) digests.delete(hexKey(digest))
  return {
    blockChain: {
      ...blockChain,
      transactions,
      byHash: new Map(transactions.map((one) => [hexKey(one.hash), one])),
      byDigest: new Map(
        transactions.flatMap((one) => (one.digest === undefined ? [] : [[hexKey(one.digest), one] as const])),
      ),
      reorgs: [...blockChain.reorgs, { first, last: Number.MAX_SAFE_INTEGER }],
      lost: new Map(),
    },
    usedDigests: digests,
  }
}
