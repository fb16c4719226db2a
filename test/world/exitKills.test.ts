/**
 * The exits of a strategy file (`exit:`) over kills of the real process, against the paper venue over sockets: before and after the
 * record of their placement, around the fill of a target, and between the acceptance of an edit and its landing. The venue's own
 * orders judge, all the time: whether anything of perpd runs or not.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { cancelOrder } from '../../src/paper/keeper/orderEnds.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import { sameHex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { type Operated, operatedIn } from './operated.ts'
import { killLeftOver, lightMarkets, ordersOf, perpd, type Running, scratch, until } from './processes.ts'

/** Contract `OrderType` of exits. */
const TAKE_PROFIT = 5
const STOP_LOSS = 6

const entryPrice = 2_000

let folder: ReturnType<typeof scratch>
let own: Operated
let venue: Venue
let served: ServedVenue
let candles: FileCandle[]
beforeEach(async () => {
  folder = scratch()
  own = await operatedIn(folder.path)
  candles = []
  const epochSeconds = Math.floor(Date.now() / 1000)
  setPrice(entryPrice, 0)
  venue = createVenue({
    clock: systemClock,
    chain: arbitrum,
    seed: 7,
    epochSeconds,
    settings: {
      onlyMarkets: lightMarkets,
      // As of `perpd paper`: what happened is proven a second later.
      safeLagBlocks: 4,
      orderDeadlineSeconds: 6,
      keeperDelayMs: 300,
      keeperJitterMs: 0,
      relayDelayMs: 150,
      // With another trader the venue looks at triggers at every second, and not ahead to prices that the test has yet to set.
      traders: 1,
      replay: { series: new Map([['ETH', candles]]), speed: 1 },
    },
  })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 50 })
})
afterEach(async () => {
  await killLeftOver()
  await served.close()
  folder.remove()
})

/** ETH costs so much from now on, USD. */
function setPrice(price: number, startSeconds = Date.now() / 1000 - venue.venueState.epochSeconds): void {
  const at = usd(price)
  candles.push({ startSeconds, open: at, high: at, low: at, close: at })
}

/** Whether something is of the account that perpd trades, which has sent the first message. */
const isOwn = ({ account }: { readonly account: string }) =>
  sameHex(account, venue.record()[0]?.account ?? '0x')

const stops = () => restingOf(STOP_LOSS)
const targets = () => restingOf(TAKE_PROFIT)

function restingOf(orderType: number) {
  return [...venue.venueState.orders.values()]
    .filter((order) => isOwn(order) && Number(order.params.orderType) === orderType)
    .map(({ key, params: { numbers } }) => ({
      key,
      sizeUsd: numbers.sizeDeltaUsd,
      triggerPrice: numbers.triggerPrice,
    }))
}

/** Of the only position, USD; 0 where there is none. */
function heldUsd(): bigint {
  const position = [...venue.venueState.positions.values()].find(isOwn)
  return position?.state.sizeInUsd ?? 0n
}

/** What the venue received, for a test that fails. */
const told = () =>
  JSON.stringify([venue.record(), stops(), targets(), heldUsd()], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )

/** Looks at the venue many times a second from now on: what it finds wrong, and how many orders it saw. */
function watch() {
  const wrong = new Set<string>()
  const seen = { stops: new Set<string>(), targets: new Set<string>() }
  let last: ReturnType<typeof stops>[number] | undefined
  let wasHeld = false
  const look = () => {
    const [now, ...more] = stops()
    for (const { key } of targets()) seen.targets.add(key)
    if (more.length > 0) wrong.add(`${more.length + 1} stops rest`)
    if (now === undefined && last !== undefined && heldUsd() > 0n) wrong.add('the position has no stop')
    if (now === undefined) return
    seen.stops.add(now.key)
    wasHeld ||= heldUsd() > 0n
    // What comes with the entry rests before it is executed.
    if (wasHeld && now.sizeUsd !== last?.sizeUsd && now.sizeUsd > heldUsd())
      wrong.add(`a stop of ${now.sizeUsd} was made for a position of ${heldUsd()}`)
    if (last !== undefined && now.triggerPrice < last.triggerPrice)
      wrong.add(`the stop went from ${last.triggerPrice} to ${now.triggerPrice}`)
    last = now
  }
  const timer = setInterval(look, 50)
  /** The stop that rests goes by the test's own hand. */
  const forget = () => {
    last = undefined
  }
  return { wrong, seen, forget, stop: () => clearInterval(timer) }
}

function writeStrategy(): void {
  const lines = [
    `kind: ${join(import.meta.dirname, 'strategies', 'opener.ts')}`,
    'market: ETH/USD [WETH-USDC]',
    'cadenceSeconds: 1',
    'size: { usd: 500, leverage: 2, collateral: short }',
    'exit:',
    '  stopLoss: { bps: 400 }',
    '  takeProfit:',
    '    - { bps: 300, shareBps: 5000 }',
    '    - { bps: 3000, shareBps: 5000 }',
    '  trailingStop: { bps: 200, activation: { bps: 500 } }',
    '  moveEverySeconds: 5',
    '  moveStepUsd: 1',
    '',
  ]
  writeFileSync(join(folder.path, 'once.yaml'), lines.join('\n'))
}

const start = (killAt?: string): Running =>
  perpd(['run', ...own.flags(served)], killAt === undefined ? {} : { killAt })

/** A daemon that dies at this point; `meanwhile` is what happens once it runs. */
async function killed(killAt: string, meanwhile?: (daemon: Running) => Promise<void>): Promise<void> {
  const daemon = start(killAt)
  await meanwhile?.(daemon)
  const { child, said } = daemon
  const over = () => child.signalCode ?? child.exitCode ?? undefined
  expect(await until(`the kill at ${killAt}`, over, { seen: said }), `${killAt}\n${said()}`).toBe('SIGKILL')
}

test('killed at every boundary of its exits: one stop, none twice, none larger than the part when it is made, and never none', {
  timeout: 600_000,
}, async () => {
  writeStrategy()
  const { wrong, seen, forget, stop } = watch()
  // They are sent with the entry, and the answer is not recorded.
  await killed('send.result:before')
  const areAll = () => (heldUsd() > 0n && stops().length === 1 && targets().length === 2) || undefined
  await until('a position is held, and all its exits rest', areAll, { seen: told })

  // Somebody cancels the stop. What places it anew is not recorded, then recorded and not sent, then sent and no answer recorded.
  const [resting] = stops()
  const order = venue.venueState.orders.get(resting?.key ?? '0x')
  if (order === undefined) throw new Error('no stop')
  forget()
  cancelOrder(venue.venueState, order, 'USER_INITIATED_CANCEL', Date.now())
  await killed('intent.accepted:before:has no stop-loss')
  await killed('intent.accepted:after:has no stop-loss')
  expect(stops()).toEqual([])
  await killed('send.result:before')
  await until('the stop rests again', areAll, { seen: told })

  // The first target fills, and perpd has not recorded it.
  await killed('child.executed:before', async (daemon) => {
    const isReady = () => daemon.stdout().includes('"daemon.ready"') || undefined
    await until('it runs', isReady, { seen: daemon.said })
    setPrice(entryPrice * 1.031)
  })
  const halfUsd = heldUsd()
  expect(halfUsd).toBe(usd(250))
  // The edit that makes the stop smaller: accepted and not sent, then sent and the answer not recorded.
  await killed('intent.accepted:after:shrinks to match')
  expect(stops()).toMatchObject([{ sizeUsd: usd(500) }])
  await killed('send.result:before')
  const isFitted = () => stops()[0]?.sizeUsd === halfUsd || undefined
  await until('the stop is as large as the part', isFitted, { seen: told })

  // The edit that moves it after the price, accepted and not sent.
  const { triggerPrice: firstTrigger = 0n } = stops()[0] ?? {}
  setPrice(entryPrice * 1.06)
  await killed('intent.accepted:after:moves towards profit')
  expect(stops()).toMatchObject([{ sizeUsd: halfUsd, triggerPrice: firstTrigger }])

  // And the end: it is moved after all, closes the rest, and the other target goes.
  const last = start()
  await own.when('it runs', last, ({ state }) => state === 'running')
  const isMoved = () => (stops()[0]?.triggerPrice ?? 0n) > firstTrigger || undefined
  await until('the stop is moved', isMoved, { seen: last.said })
  expect(stops()).toMatchObject([{ sizeUsd: halfUsd }])
  expect(targets()).toMatchObject([{ sizeUsd: halfUsd }])
  setPrice(entryPrice * 1.02)
  const isOver = () => heldUsd() + BigInt(stops().length + targets().length) === 0n || undefined
  await until('nothing is held and nothing rests', isOver, { seen: last.said })
  last.child.kill('SIGTERM')
  expect(await last.ended, last.said()).toBe(0)
  stop()
  expect([...wrong]).toEqual([])
  expect([seen.stops.size, seen.targets.size]).toEqual([2, 2])
  const digests = venue.record().map(({ digest }) => digest)
  expect(new Set(digests).size).toBe(digests.length)
  const entries = (await ordersOf(folder.path)).filter(({ kind }) => kind === 'increase')
  expect(entries).toHaveLength(1)
})
