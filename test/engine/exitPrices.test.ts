/**
 * The way out by every host's price: no oracle host alone fires, moves or holds back an exit, and after a restart the last price of the
 * journal decides where as many hosts say one thing as another.
 */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { type ExitSettings, usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { opener } from '../support/opener.ts'

let bench: KindsBench
let engine: Engine | undefined
/** Prices of hosts in hundredths of the venue's, by a part of the address; hosts that are not here say what is. */
let lies: Readonly<Record<string, bigint>> = {}

afterEach(async () => {
  engine?.abort()
  engine = undefined
  lies = {}
  await bench.close()
})

/** A venue of which hosts lie about prices. */
async function venue(path: PricePath): Promise<void> {
  bench = await kindsBench({
    path,
    lie(url, text) {
      const { pathname } = new URL(url)
      const lie = Object.entries(lies).find(([host]) => pathname.includes(host))?.[1]
      if (lie === undefined || !pathname.endsWith('/tickers')) return undefined
      const names = ['minPrice', 'maxPrice', 'medianPrice', 'markPrice']
      const rows = JSON.parse(text) as Record<string, unknown>[]
      for (const row of rows)
        for (const name of names)
          if (typeof row[name] === 'string') row[name] = ((BigInt(row[name]) * lie) / 100n).toString()
      return JSON.stringify(rows)
    },
  })
}

/** Hosts say so many hundredths of the price from now on; what was read before is old. */
async function lieBy(asked: typeof lies): Promise<void> {
  engine?.abort()
  lies = asked
  await bench.clock.advance(5_000)
}

/** Runs the opener with these exits for so long; the venue goes on. */
async function run(exits: Partial<ExitSettings> | undefined, forMs: number): Promise<void> {
  engine?.abort()
  const strategy = loadedOf(opener, 'eth-once', [ethSymbol], {
    cadenceMs: 2_000,
    ...(exits && { exits: { takeProfits: [], ...usualMoves, range: usualRange, ...exits } }),
  })
  engine = engineOver(bench, { strategies: [strategy] }).engine
  await engine.start()
  await bench.clock.advance(forMs)
}

/** Orders that rest and positions that are held at the venue, in whole dollars. */
async function standing(): Promise<{ readonly stops: readonly number[]; readonly held: number }> {
  const { orders, positions } = await bench.snapshot()
  return {
    stops: orders.value.flatMap(({ orderType, triggerContractPrice }) =>
      orderType === 6 ? [Math.round(Number(triggerContractPrice) / 1e12)] : [],
    ),
    held: positions.value.reduce((sum, { sizeInUsd }) => sum + Math.round(Number(sizeInUsd) / 1e30), 0),
  }
}

test.each([104n, 200n, 50n])(
  'an oracle host at %s hundredths neither fires a stop or a target, nor moves a stop, nor keeps one from being placed',
  async (lie) => {
    await venue([[0, 2_000]])
    await run(undefined, 30_000)
    await lieBy({ '/oracle/0/': lie })
    const exits: Partial<ExitSettings> = {
      stopLoss: { bps: 300 },
      takeProfits: [{ bps: 350 }],
      trailingStop: { distance: { bps: 200 } },
      breakEven: { after: { bps: 100 }, offsetBps: 20 },
      moveEveryMs: 10_000,
      moveStepUsd: 0n,
    }
    await run(exits, 30_000)
    expect(await standing()).toEqual({ stops: [1_960], held: 200 })
  },
)

test.each([50n])(
  'a stop whose place the price is past closes although an oracle host is at %s hundredths, and a trailing one follows',
  async (lie) => {
    await venue([
      [0, 2_000],
      [40, 2_000],
      [100, 2_200],
      [160, 2_200],
      [170, 2_000],
    ])
    await run(undefined, 30_000)
    await lieBy({ '/oracle/0/': lie })
    const trailing = { trailingStop: { distance: { bps: 300 } }, moveEveryMs: 10_000, moveStepUsd: 0n }
    await run(trailing, 105_000)
    expect(await standing()).toEqual({ stops: [2_134], held: 200 })
    await bench.clock.advance(60_000)
    expect(await standing()).toEqual({ stops: [], held: 0 })
  },
)

test.each([104n])(
  'what was opened without a stop is closed past its place although an oracle host is at %s hundredths',
  async (lie) => {
    await venue([
      [0, 2_000],
      [35, 2_000],
      [40, 1_900],
    ])
    await run(undefined, 60_000)
    await lieBy({ '/oracle/0/': lie })
    await run({ stopLoss: { bps: 200 } }, 40_000)
    expect(await standing()).toEqual({ stops: [], held: 0 })
  },
)

const hand = { by: 'ann', via: 'control' } as const
const close = { type: 'close', market: ethSymbol, direction: 'long', collateral: 'short', shareBps: 10_000 }

/** Closes by hand, and gives the price that it was sized by, in whole dollars, and what is held then. */
async function closed(): Promise<{ readonly priceUsd: number; readonly held: number }> {
  const answering = engine?.operate({ ...close, id: 'hand-1' } as unknown as OperatorCommand, hand)
  await bench.clock.advance(10_000)
  expect(await answering).toMatchObject({ ok: true })
  const [state] = bench.journal.recentIntents({ limit: 1 })
  expect(state?.intent.kind).toBe('close')
  const priceUsd = Math.round(Number(state?.intent.terms.referencePrice) / 1e30)
  return { priceUsd, held: (await standing()).held }
}

test('after a restart the last price of the journal decides between two hosts that say half and two that do not', async () => {
  await venue([[0, 2_000]])
  await run(undefined, 20_000)
  // The third oracle host agrees with nobody.
  await lieBy({ '/oracle/0/': 50n, '/api/0/': 50n, '/oracle/1/': 52n })
  await run(undefined, 4_000)
  const { priceUsd, held } = await closed()
  expect(priceUsd).toBeGreaterThan(1_900)
  expect(held).toBe(0)
})

test('a market that fell by a third while perpd was down is left at the price that all hosts say', async () => {
  await venue([
    [0, 2_000],
    [22, 2_000],
    [23, 1_300],
  ])
  await run(undefined, 20_000)
  await lieBy({})
  await run(undefined, 4_000)
  const { priceUsd, held } = await closed()
  expect(Math.abs(priceUsd - 1_300)).toBeLessThan(10)
  expect(held).toBe(0)
})
