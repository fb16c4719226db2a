/**
 * Exits planned by hand (`perpd protect`) over kills of the real process, against the paper venue over sockets: around the record of the plan, of the
 * placement and of the move. The venue's own orders judge.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/systemClock.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import { sameHex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { type Operated, operatedIn } from './operated.ts'
import { killLeftOver, lightMarkets, perpd, type Running, scratch, until } from './processes.ts'

/** Contract `OrderType` of a stop-loss. */
const STOP_LOSS = 6

/** An instance that opens nothing, beside what an operator does. */
function writeStrategy(): void {
  const lines = ['kind: protector', 'market: BTC/USD [BTC-USDC]', '']
  writeFileSync(join(folder.path, 'once.yaml'), lines.join('\n'))
}

let folder: ReturnType<typeof scratch>
let own: Operated
let venue: Venue
let served: ServedVenue
beforeEach(async () => {
  folder = scratch()
  writeStrategy()
  own = await operatedIn(folder.path)
  venue = createVenue({
    clock: systemClock,
    chain: arbitrum,
    seed: 7,
    epochSeconds: Math.floor(Date.now() / 1000),
    settings: {
      onlyMarkets: lightMarkets,
      // As of `perpd paper`: what happened is proven a second later.
      safeLagBlocks: 4,
      orderDeadlineSeconds: 6,
      keeperDelayMs: 300,
      keeperJitterMs: 0,
      relayDelayMs: 150,
      traders: 1,
      replay: {
        series: new Map([
          [
            'ETH',
            [{ startSeconds: 0, open: usd(2_000), high: usd(2_000), low: usd(2_000), close: usd(2_000) }],
          ],
        ]),
        speed: 1,
      },
    },
  })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 50 })
})
afterEach(async () => {
  await killLeftOver()
  await served.close()
  folder.remove()
})

const isOwn = ({ account }: { readonly account: string }) =>
  sameHex(account, venue.record()[0]?.account ?? '0x')

function stops() {
  return [...venue.venueState.orders.values()]
    .filter((order) => isOwn(order) && Number(order.params.orderType) === STOP_LOSS)
    .map(({ key, params: { numbers } }) => ({
      key,
      sizeUsd: numbers.sizeDeltaUsd,
      price: numbers.triggerPrice / 10n ** 12n,
    }))
}

const heldUsd = () => [...venue.venueState.positions.values()].find(isOwn)?.state.sizeInUsd ?? 0n

async function begun(killAt?: string): Promise<Running> {
  const daemon = perpd(['run', ...own.flags(served)], killAt === undefined ? {} : { killAt })
  await own.when('it runs', daemon, ({ state }) => state === 'running')
  return daemon
}

const protect = (...places: string[]) =>
  own.command(served, 'protect', 'ETH/USD [WETH-USDC]', 'long', ...places, '--by', 'ann')

/** Gives a command to a daemon that dies at a point in it. */
async function killedIn(killAt: string, ...places: string[]): Promise<void> {
  const daemon = await begun(killAt)
  const asking = protect(...places)
  const over = () => daemon.child.signalCode ?? daemon.child.exitCode ?? undefined
  expect(
    await until(`the kill at ${killAt}`, over, { seen: daemon.said, timeoutMs: 60_000 }),
    daemon.said(),
  ).toBe('SIGKILL')
  await asking
}

test('killed before and after the record of plan, placement and move: the stop is there once, at the place that was planned last', {
  timeout: 600_000,
}, async () => {
  const first = await begun()
  const opened = await own.command(
    served,
    ...['open', 'ETH/USD [WETH-USDC]', 'long', '--size', '500', '--leverage', '2', '--yes', '--by', 'ann'],
  )
  expect(opened.code, opened.said).toBe(0)
  expect(heldUsd()).toBe(usd(500))
  first.child.kill('SIGKILL')
  await first.ended

  // Nothing was planned before the plan is durable.
  await killedIn('operator.command:before:stopLoss', '--stop-loss', '1800')
  // The plan is there, its order is accepted and not sent, then sent without a record of the answer.
  await killedIn('intent.accepted:after:asked for one', '--stop-loss', '1800')
  expect(stops()).toEqual([])
  const second = perpd(['run', ...own.flags(served)], { killAt: 'send.result:before' })
  const isDead = () => second.child.signalCode ?? undefined
  expect(await until('the kill between sending and its record', isDead, { seen: second.said })).toBe(
    'SIGKILL',
  )
  const third = await begun()
  const rests = () => (stops().length > 0 ? stops() : undefined)
  expect(await until('the stop rests', rests, { seen: third.said })).toMatchObject([{ sizeUsd: usd(500) }])
  const [placed] = stops()
  third.child.kill('SIGKILL')
  await third.ended

  // The move, sent without a record of the answer; it is the same order afterwards.
  await killedIn('send.result:before', '--stop-loss', '1850')
  const last = await begun()
  const isMoved = () => (stops()[0]?.price !== placed?.price ? stops() : undefined)
  const moved = await until('the stop is moved', isMoved, { seen: last.said })
  expect(moved).toMatchObject([{ key: placed?.key, sizeUsd: usd(500) }])
  expect(moved?.[0]?.price).toBeGreaterThan(placed?.price ?? 0n)

  expect((await protect('--stop-loss', 'none', '--yes')).code).toBe(0)
  const isGone = () => stops().length === 0 || undefined
  await until('the stop is removed', isGone, { seen: last.said })
  last.child.kill('SIGTERM')
  expect(await last.ended, last.said()).toBe(0)
  const digests = venue.record().map(({ digest }) => digest)
  expect(new Set(digests).size).toBe(digests.length)
})
