/**
 * The product's reader of the chain against the modelled chain: whatever happened, over JSON-RPC it sees what is so at each
 * endpoint, as the oracle that the machine's own tier reads by says it.
 */
import { expect, test } from 'vitest'
import type { AttemptQuery } from '../../src/domain/machine/chainReader.ts'
import type { ChainView } from '../../src/domain/machine/chainView.ts'
import type { OrderSpec } from './chainModel.ts'
import { type Endpoint, latestOf, viewOf } from './endpoints.ts'
import { Past, readerOf } from './rpcPast.ts'
import { settlementIn } from './rpcRows.ts'

/** What is so, in the words of the reader. */
function soAt(history: Past, endpoints: readonly Endpoint[], query: AttemptQuery, nowMs: number): ChainView {
  const view = viewOf(history.chain, endpoints, query, nowMs)
  return {
    ...view,
    endpoints: view.endpoints.map((each) => {
      const { illness } = endpoints.find(({ name }) => name === each.endpoint) as Endpoint
      const branch = illness?.kind === 'fork' ? illness.branch : history.chain.canonical
      return {
        ...each,
        endpoint: `${each.endpoint}.rpc.test`,
        logs: each.logs.map((log) => {
          if (log.event === 'OrderCancelled' || log.event === 'OrderFrozen') return { reason: '', ...log }
          if (log.event !== 'OrderExecuted') return log
          const spec = branch.orders.get(log.orderKey)?.spec as OrderSpec
          const made = branch.logs.find(
            ({ block, logIndex }) => block.hash === log.block.hash && logIndex === log.logIndex,
          )
          if (made === undefined) throw new Error('the oracle shows a log that its branch has not')
          const settlement = settlementIn(made, spec, query.marketToken, query.indexTokenDecimals)
          return { ...log, settlement }
        }),
      }
    }),
  }
}

/** Whether several transactions of the block could be it: none of them shows a signature, and all call the router. */
function isDoubtful({ chain }: Past, { consumer }: ChainView['endpoints'][number]): boolean {
  if (consumer === undefined || consumer.carriesOurSignature) return false
  const branches = [chain.canonical, ...chain.left]
  const block = branches.flatMap(({ blocks }) => blocks).find(({ hash }) => hash === consumer.block.hash)
  return (
    (block?.txs ?? []).filter(
      ({ action: { kind } }) => kind === 'foreign' || kind === 'batch' || kind === 'bundle',
    ).length > 1
  )
}

test('over hundreds of histories, the reader sees what is so at each endpoint, however ill it is', async () => {
  let views = 0
  let doubtful = 0
  const seen = new Map<string, number>()
  for (let seed = 1; seed <= 40; seed += 1) {
    const history = new Past(seed)
    const endpoints: readonly Endpoint[] = ['one', 'two'].map(
      (name): Endpoint => ({ name, illness: undefined }),
    )
    const reader = readerOf(history, endpoints, seed)
    for (let turn = 0; turn < 16; turn += 1) {
      for (let count = 0; count < 3; count += 1) history.happen()
      for (const endpoint of endpoints) endpoint.illness = history.illness()
      // Whoever did not answer rests.
      history.wait(20_000)
      const queries = history.queries()
      const nowMs = history.timeline.nowMs
      const found = await reader.look(queries)
      for (const [index, query] of queries.entries()) {
        const so = soAt(history, endpoints, query, nowMs)
        for (const [at, view] of so.endpoints.entries()) {
          views += 1
          for (const { event } of view.logs) seen.set(event, (seen.get(event) ?? 0) + 1)
          if (isDoubtful(history, view)) {
            doubtful += 1
            continue
          }
          expect(found[index]?.endpoints[at], `seed ${seed}, turn ${turn}, ${query.digest}`).toEqual(view)
        }
        expect(found[index]?.endpoints.length).toBe(so.endpoints.length)
      }
      history.wait(20_000)
      expect(await reader.latest()).toEqual(latestOf(history.chain, endpoints, 0).map(plain))
    }
  }
  expect(views).toBeGreaterThan(7_000)
  expect(doubtful).toBeLessThan(views / 50)
  expect(Object.fromEntries(seen)).toEqual({
    OrderCreated: expect.any(Number),
    OrderExecuted: expect.any(Number),
    OrderCancelled: expect.any(Number),
    OrderFrozen: expect.any(Number),
    OrderUpdated: expect.any(Number),
  })
}, 60_000)

function plain({ block: { number, hash, timestampSeconds } }: ReturnType<typeof latestOf>[number]): unknown {
  return { number, hash, timestampSeconds }
}
