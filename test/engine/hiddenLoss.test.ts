/** A position that every list hides is no loss of the account: it counts by the journal, at the price of now. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'

let bench: KindsBench
let running: Engine | undefined
let isHidden = false
afterEach(async () => {
  running?.abort()
  isHidden = false
  await bench.close()
})

const by = { by: 'ann', via: 'control' } as const
const side = { market: ethSymbol, direction: 'long', collateral: 'short' } as const
const open = { type: 'open', ...side, size: '2000', leverage: '2', isPreview: false } as const

/** Starts a daemon that may lose $200 a day; the venue goes on. */
async function start(): Promise<Engine> {
  running?.abort()
  const { engine } = engineOver(bench, { account: { maxDailyLossUsd: usd(200) } })
  running = engine
  await engine.start()
  await bench.clock.advance(40_000)
  return engine
}

/** A daemon that holds a long of $2,000 on $1,000, at a venue that can hide both lists. */
async function holding(path: PricePath): Promise<Engine> {
  bench = await kindsBench({
    path,
    lie: (url) => (isHidden && /\/(positions|orders)$/.test(new URL(url).pathname) ? '[]' : undefined),
  })
  const engine = await start()
  const opening = engine.operate({ ...open, id: 'hand-1' } as unknown as OperatorCommand, by)
  await bench.clock.advance(5_000)
  expect(await opening).toMatchObject({ ok: true })
  await bench.clock.advance(65_000)
  return engine
}

const halts = () => bench.journal.account().trading.halts.map(({ cause }) => cause)

test('what both hosts hide for minutes is no loss of the day, over a restart either', async () => {
  const engine = await holding([[0, 2_000]])
  isHidden = true
  await bench.clock.advance(120_000)
  expect(engine.status().positions).toEqual([])
  expect(halts()).toEqual([])
  await start()
  await bench.clock.advance(60_000)
  expect(halts()).toEqual([])
})

test('what is hidden loses with the market, and trips the limit of the day', async () => {
  await holding([
    [0, 2_000],
    [140, 2_000],
    [145, 1_700],
  ])
  isHidden = true
  await bench.clock.advance(120_000)
  expect(halts()).toEqual(['daily-loss'])
})

test('a loss of what is shown trips it', async () => {
  await holding([
    [0, 2_000],
    [140, 2_000],
    [145, 1_700],
  ])
  await bench.clock.advance(120_000)
  expect(halts()).toEqual(['daily-loss'])
})
