/** Instances of perpd's own kinds on one market, over real sockets to the paper venue: each trades its own part, and no other's. */
import { afterEach, expect, test } from 'vitest'
import { wrongSums } from '../../src/books/bookSums.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { SignalAction } from '../../src/domain/memory/tradeSignal.ts'
import { usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import { usd } from '../../src/protocol/units.ts'
import { signal } from '../../src/strategy/kinds/signal.ts'
import { targetExposure } from '../../src/strategy/kinds/targetExposure.ts'
import type { Strategy } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let engine: Engine | undefined
afterEach(async () => {
  engine?.abort()
  await bench.close()
})

const size = { usd: usd(300), leverageBps: 20_000, collateral: 'short' as const }
const exits = { takeProfits: [], ...usualMoves, range: usualRange, stopLoss: { bps: 2_000 } }

/** A target with a stop of its own, and a listener to signals, beside each other on ETH. */
function started(target: { usd: number }) {
  const params = targetExposure.params.parse({ targetUsd: target.usd })
  const held = loadedOf(targetExposure as Strategy, 'held', [ethSymbol], {
    cadenceMs: 2_000,
    params,
    exits,
    instance: { name: 'held', symbols: [ethSymbol], size },
    needs: targetExposure.needs(params, [ethSymbol]),
  })
  const tv = loadedOf(signal as Strategy, 'tv', [ethSymbol], {
    cadenceMs: 2_000,
    params: { sides: 'both' },
    instance: { name: 'tv', symbols: [ethSymbol], size: { ...size, usd: usd(100) } },
  })
  const at = engineOver(bench, { strategies: [held, tv] })
  engine = at.engine
  return at
}

let sent = 0
async function say(action: SignalAction): Promise<void> {
  sent += 1
  const answer = await engine?.signal({
    terms: { strategy: 'tv', action, sentAtMs: bench.clock.now() },
    ttlMs: 30_000,
    nonce: `signed:${sent}`,
    windowMs: 900_000,
  })
  expect(answer).toMatchObject({ ok: true })
  await bench.clock.advance(40_000)
}

/** `held long 300`, by the books; what is nobody's part is not in it. */
function parts(): readonly string[] {
  expect(wrongSums(bench.journal)).toEqual([])
  return bench.journal
    .books()
    .all()
    .filter(({ sizeUsd }) => sizeUsd !== 0n)
    .map(({ strategy, direction, sizeUsd }) => `${strategy} ${direction} ${sizeUsd / 10n ** 30n}`)
    .sort()
}

const listed = async () =>
  (await bench.api.getPositions({ account: signer.address })).value
    .map(({ direction, sizeInUsd }) => `${direction} ${sizeInUsd / 10n ** 30n}`)
    .sort()

test('two instances on one market open, add to, reduce and close their own parts alone, on one side and on two', async () => {
  bench = await kindsBench({ path: [[0, 2_000]] })
  let at = started({ usd: 300 })
  const unserved = () =>
    at.events.flatMap((event) =>
      event.type === 'signal.unserved' ? [`${event.signal}: ${event.reason}`] : [],
    )
  await at.engine.start()
  await bench.clock.advance(40_000)
  expect(parts()).toEqual(['held long 300'])

  // Nothing is its own yet, and what is another's is in nobody's way.
  await say('flat')
  await say('reverse')
  expect(unserved()).toEqual([
    '1: it has no own position to close; the position there belongs to others (perpd positions shows the owners)',
    '2: it has no own position to reverse; the position there belongs to others (perpd positions shows the owners)',
  ])
  await say('long')
  expect(parts()).toEqual(['held long 300', 'tv long 100'])
  expect(await listed()).toEqual(['long 400'])
  await say('long')
  expect(unserved().at(-1)).toBe('4: it already has a long of $100.00, and a signal never adds to a position')

  // A new target is followed with the stop of the first entry at rest; the books are folded anew from the journal.
  at.engine.abort()
  at = started({ usd: 600 })
  await at.engine.start()
  await bench.clock.advance(40_000)
  expect(parts()).toEqual(['held long 600', 'tv long 100'])

  await say('short')
  expect(parts()).toEqual(['held long 600', 'tv short 100'])
  expect(await listed()).toEqual(['long 600', 'short 100'])
  await say('reverse')
  expect(parts()).toEqual(['held long 600', 'tv long 100'])
  await say('flat')
  expect(parts()).toEqual(['held long 600'])

  at.engine.abort()
  at = started({ usd: 400 })
  await at.engine.start()
  await bench.clock.advance(40_000)
  expect(parts()).toEqual(['held long 400'])
  expect(await listed()).toEqual(['long 400'])
  const stops = (await bench.snapshot()).orders.value
  expect(stops.every(({ orderType }) => orderType === 6)).toBe(true)
  expect(at.codes()).toEqual([])
}, 300_000)

test('an instance leaves what was there before it, and keeps what is in its book over a restart', async () => {
  bench = await kindsBench({ path: [[0, 2_000]] })
  const first = started({ usd: 300 })
  await first.engine.start()
  await bench.clock.advance(40_000)
  for (let restart = 0; restart < 2; restart += 1) {
    engine?.abort()
    const again = started({ usd: 300 })
    await again.engine.start()
    await bench.clock.advance(30_000)
    expect(parts()).toEqual(['held long 300'])
    expect(again.codes()).toEqual([])
  }
  const orders = bench.journal.recentIntents({ strategy: 'held' }).map(({ intent }) => intent.kind)
  expect(orders).toEqual(['increase'])
}, 300_000)
