/** An order janitor over the paper venue: it cancels an entry that another left resting, and leaves the exits of a position. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { orderJanitor } from '../../src/strategy/kinds/orderJanitor.ts'
import type { Strategy } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

const ann = { by: 'ann', via: 'control' } as const

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

test('an entry of an operator that rests for too long is cancelled, and the stop of a position stays', {
  timeout: 120_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 1_800]] })
  const params = orderJanitor.params.parse({ staleAfterSeconds: 300, graceSeconds: 60 })
  const janitor = {
    ...loadedOf(orderJanitor as Strategy, 'janitor', []),
    params,
    needs: orderJanitor.needs(params, []),
  }
  const { engine, events } = engineOver(bench, { strategies: [janitor] })
  running = engine
  await engine.start()
  const { clock, api, journal } = bench
  const open = {
    type: 'open',
    market: ethSymbol,
    size: '500',
    leverage: '5',
    collateral: 'short',
    isPreview: false,
  } as const
  const ask = async (command: OperatorCommand) => {
    expect(await engine.operate(command, ann)).toMatchObject({ ok: true })
    await clock.advance(10_000)
  }
  await ask({ ...open, id: 'ope-1', direction: 'long', stopLoss: '1700' })
  await ask({ ...open, id: 'ope-2', direction: 'short', limit: '2000', far: true })
  const { account } = engine.status()
  const resting = async () =>
    (await api.getOrders({ account }, { isFresh: true })).value.map(
      ({ direction, orderType }) => `${direction} ${orderType}`,
    )
  expect((await resting()).toSorted()).toEqual(['long 6', 'short 3'])
  await clock.advance(200_000)
  expect(await resting()).toHaveLength(2)
  await clock.advance(200_000)
  expect(await resting()).toEqual(['long 6'])
  const [newest] = journal.recentIntents()
  expect(newest?.intent).toMatchObject({ strategy: 'janitor', kind: 'cancel' })
  expect(newest?.closing?.outcome).toBe('EXECUTED')
  expect(events.filter(({ type }) => type === 'decision.denied')).toEqual([])
})
