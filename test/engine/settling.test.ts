/** How soon the equity is of lists of after a fill, and that no list that lags is taken for one of them. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { absOf, usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench } from '../support/kinds.ts'

let bench: KindsBench
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  running = undefined
  await bench.close()
})

const side = { market: ethSymbol, direction: 'long', collateral: 'short' } as const
const open = { type: 'open', ...side, size: '500', leverage: '2', isPreview: false } as const
const limit = { ...open, limit: '1000', far: true } as const
const withExits = { ...open, takeProfit: '5000', stopLoss: '1000' } as const
const half = { type: 'close', ...side, shareBps: 5_000 } as const
const close = { type: 'close', ...side, shareBps: 10_000 } as const

async function started(options: KindsOptions) {
  bench = await kindsBench(options)
  const { engine, events } = engineOver(bench, {})
  running = engine
  await engine.start()
  await bench.clock.advance(60_000)
  let made = 0
  /** Asks; gives how long the figure is of before the command, ms, up to a minute. */
  async function settledAfter(command: object): Promise<number> {
    made += 1
    const asked = { ...command, id: `by-hand-${made}` } as OperatorCommand
    const answering = engine.operate(asked, { by: 'ann', via: 'control' })
    let hasBegun = false
    for (let atMs = 500; atMs <= 60_000; atMs += 500) {
      await bench.clock.advance(500)
      const isSettling = engine.status().equity?.isEquitySettling === true
      if (hasBegun && !isSettling) {
        expect(await answering).toMatchObject({ ok: true })
        return atMs
      }
      hasBegun ||= isSettling
    }
    return 60_000
  }
  return { engine, events, settledAfter }
}

test.each([
  // Blocks are final after 25 s.
  { how: 'its chain', isByChain: true, commands: [open, half, close] },
  { how: 'its trades alone', isByChain: false, commands: [open, close, limit, withExits, close] },
])('the equity is of lists of after a fill within seconds, by $how', async ({ isByChain, commands }) => {
  const { engine, settledAfter } = await started({ isByChain, settings: { safeLagBlocks: 100 } })
  for (const command of commands) {
    const before = engine.status().equity?.equityUsd ?? 0n
    expect(await settledAfter(command), JSON.stringify(command)).toBeLessThanOrEqual(5_000)
    const { equity, nowMs } = engine.status()
    expect(absOf((equity?.equityUsd ?? 0n) - before)).toBeLessThan(usd(10))
    expect(nowMs - (equity?.equityAtMs ?? 0)).toBeLessThan(5_000)
    await bench.clock.advance(31_000)
  }
})

test.each([
  { list: 'wallet', path: '/balances/wallet', commands: [open, close] },
  { list: 'positions', path: '/positions', commands: [open, close] },
  { list: 'orders', path: '/orders', commands: [limit] },
])(
  'while the list of $list is of before a fill, the figure of before stands with its age',
  async ({ path, commands }) => {
    let isLate = false
    let held: string | undefined
    const { engine, settledAfter } = await started({
      lie: (url, text) => {
        if (!new URL(url).pathname.endsWith(path)) return undefined
        if (!isLate) held = text
        return held
      },
    })
    for (const command of commands) {
      isLate = true
      const { equity: before, nowMs } = engine.status()
      expect(await settledAfter(command), command.type).toBeGreaterThan(25_000)
      isLate = false
      await bench.clock.advance(45_000)
      const { equity: after } = engine.status()
      expect(after).toMatchObject({ isEquitySettling: false })
      expect(after?.equityAtMs).toBeGreaterThan(nowMs)
      expect(absOf((after?.equityUsd ?? 0n) - (before?.equityUsd ?? 0n))).toBeLessThan(usd(10))
    }
  },
)
