/** A strategy whose file is removed, with the process ending before and after every record of what follows. */
import { expect, test } from 'vitest'
import { usd } from '../../src/protocol/units.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { ann, bench, file, folder, reload } from '../support/strategyFolder.ts'
import { testSigner } from '../support/trader.ts'

/** Two share a position, and the file of one is removed; the process ends at one boundary of what follows. */
async function removedWith(onRemove: 'close' | 'reduce', diesAt: number) {
  const venue = bench()
  const leaving = file('leaving', 500, { onRemove, params: { rests: true, stop: true } })
  const of = folder(leaving, file('staying', 300))
  const daemon = mortalTrader(diesAt, venue.clock, async () => {
    const { strategies } = await of.source.read()
    return { ...venue, strategies, strategyFiles: of.source }
  })
  const { journal } = daemon
  const books = () =>
    new Map(
      journal
        .books()
        .all()
        .map(({ strategy, sizeUsd }) => [strategy, sizeUsd]),
    )
  const orders = async () => (await venue.api.getOrders({ account: testSigner.address })).value

  await daemon.start()
  await daemon.goOn(() => books().get('leaving') === usd(500) && books().get('staying') === usd(300))
  for (let turn = 0; turn < 20 && (await orders()).length < 2; turn += 1) await venue.clock.advance(1_000)
  expect(await orders()).toHaveLength(2)
  // The stop is an exit of the first order; the second waits below the market.
  of.files.delete('leaving')
  daemon.count()
  void daemon.now().operate(reload, ann)
  await daemon.advance(50)
  const windDowns = () =>
    [...(journal.account().tasks?.values() ?? [])].filter(({ taskKind }) => taskKind === 'wind-down')
  const isOver = () => windDowns().length > 0 && windDowns().every(({ end }) => end !== undefined)
  if (onRemove === 'close') await daemon.goOn(isOver)
  // What was armed and not sent when the process ended is proven dead after its deadline, and then tried again.
  for (let turn = 0; turn < 300 && (daemon.isDown() || (await orders()).length > 1 || turn < 20); turn += 1) {
    await daemon.revive()
    await venue.clock.advance(500)
  }
  const left = await orders()
  const status = daemon.now().status()
  daemon.abort()
  await venue.clock.advance(1_000)
  return {
    boundaries: daemon.boundaries(),
    books: books(),
    left: left.map(({ orderType }) => orderType),
    tasks: windDowns().map(({ end }) => end?.outcome ?? 'open'),
    runs: status.strategies.map(({ name }) => name),
    windDowns: status.windDowns.map(({ strategy, close }) => ({ strategy, close })),
    unmanaged: status.unmanaged.length,
  }
}

test.each([
  ['close', { leaving: 0n, left: [], tasks: ['done'], windDowns: [] }],
  // Its stop goes on protecting what it holds, and nothing of it adds any more.
  [
    'reduce',
    { leaving: usd(500), left: [6], tasks: ['open'], windDowns: [{ strategy: 'leaving', close: false }] },
  ],
] as const)(
  'a removed file that says onRemove: %s ends as it said, and no more of the shared position goes with it, wherever the process ends',
  { timeout: 240_000 },
  async (onRemove, { leaving, ...expected }) => {
    const check = async (diesAt: number): Promise<number> => {
      const { boundaries, books, ...came } = await removedWith(onRemove, diesAt)
      expect({ diesAt, ...came }).toEqual({ diesAt, ...expected, runs: ['staying'], unmanaged: 0 })
      expect([diesAt, books.get('leaving'), books.get('staying')]).toEqual([diesAt, leaving, usd(300)])
      return boundaries
    }
    const boundaries = await check(0)
    expect(boundaries).toBeGreaterThan(8)
    for (let at = 1; at <= boundaries; at += 1) await check(at)
  },
)
