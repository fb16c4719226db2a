/** The JSON-RPC endpoint over HTTP, and the control route that reorganises its chain. */
import type { Hono } from 'hono'
import { hexKey } from '../domain/address.ts'
import { advanceWorld } from './advance.ts'
import type { Faults } from './faults.ts'
import { isObject } from './http.ts'
import { MAX_REORG_BLOCKS, MAX_REORGS, type ReorgReport, reorganise } from './reorg.ts'
import { answerRpc, MAX_REQUEST_LENGTH } from './rpc.ts'
import { endpointWorld, RPC_ENDPOINTS, rpcHostOf, rpcPathOf } from './rpcEndpoints.ts'
import type { World } from './world.ts'

/** Blocks after which transactions return when the reorganisation does not say. */
const RETURN_AFTER_BLOCKS = 1

/**
 * Reorganises as a control body says: `{"blocks": n}`, and `"transactions": "return" | "drop"` (default return),
 * `"returnAfterBlocks": n` (default 1). Returns what is wrong with the body, or what happened.
 */
export function reorganiseByControl(world: World, body: unknown): string | ReorgReport {
  if (!isObject(body)) return 'the body must be a JSON object'
  const { blocks, transactions = 'return', returnAfterBlocks = RETURN_AFTER_BLOCKS, ...others } = body
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `unknown setting ${unknown}`
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_REORG_BLOCKS
  if (!isCount(blocks)) return `blocks must be an integer from 1 to ${MAX_REORG_BLOCKS}`
  if (!isCount(returnAfterBlocks)) return `returnAfterBlocks must be an integer from 1 to ${MAX_REORG_BLOCKS}`
  if (transactions !== 'return' && transactions !== 'drop') return 'transactions must be return or drop'
  if (world.blockChain.reorgs.length >= MAX_REORGS) return `a world has at most ${MAX_REORGS} reorganisations`
  advanceWorld(world)
  const report = reorganise(world.blockChain, {
    nowMs: world.clock.now(),
    blocks,
    returnAfterBlocks: transactions === 'drop' ? undefined : returnAfterBlocks,
  })
  if (transactions === 'drop') {
    // A digest whose transaction is gone can be used again.
    for (const { transaction } of world.blockChain.lost.get(world.blockChain.reorgs.length) ?? []) {
      if (transaction.digest !== undefined) world.usedDigests.delete(hexKey(transaction.digest))
    }
  }
  return report
}

/** Answers `POST /rpc` and `/rpc/1`; `cut` drops the connection when a fault says so. */
export function mountRpc(
  app: Hono,
  options: {
    readonly world: World
    readonly faults: Faults
    readonly cut: () => never
    readonly answer: (status: number, text: string) => Response
  },
): void {
  const { world, faults, cut, answer } = options
  for (let index = 0; index < RPC_ENDPOINTS; index += 1) {
    const path = rpcPathOf('rpc', index)
    app.post(path, async (context) => {
      if (faults.down.includes(rpcHostOf(index))) cut()
      if (faults.latencyMs > 0) await world.clock.sleep(faults.latencyMs)
      const length = Number(context.req.header('content-length') ?? 0)
      if (length > MAX_REQUEST_LENGTH) return answer(413, '{"message":"request too large"}')
      return answer(200, answerRpc(endpointWorld(world, index), await context.req.text()) ?? '')
    })
    app.get(path, () => answer(405, '{"message":"JSON-RPC takes POST"}'))
  }
}
