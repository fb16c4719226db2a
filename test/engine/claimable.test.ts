/** Funding that can be claimed, from the paper venue's positions to what a status tells. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

test('of two sides the one that receives funding has some to claim, and the other none', {
  timeout: 120_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 1_800]] })
  const { engine } = engineOver(bench, { strategies: [] })
  running = engine
  await engine.start()
  const { clock } = bench
  const open = async (id: string, direction: 'long' | 'short') => {
    const asked = {
      type: 'open',
      id,
      market: ethSymbol,
      direction,
      size: '500',
      leverage: '5',
      collateral: 'short',
      isPreview: false,
    } as const
    expect(await engine.operate(asked, { by: 'ann', via: 'control' })).toMatchObject({ ok: true })
    await clock.advance(10_000)
  }
  await open('ope-1', 'long')
  await open('ope-2', 'short')
  await clock.advance(600_000)
  const { positions } = engine.status()
  expect(positions).toHaveLength(2)
  const earned = positions.map(({ pendingClaimableFundingFeesUsd }) => pendingClaimableFundingFeesUsd)
  expect(earned.filter((each) => each === 0n)).toHaveLength(1)
  expect(earned.filter((each) => each !== undefined && each > 0n)).toHaveLength(1)
})
