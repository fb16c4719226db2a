/** Other traders: the market moves by itself, repeatably, and the world stays small. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { savedBlockChain } from '../../src/paper/blocks/chainMemory.ts'
import { MAX_POPULATION_TRADES, MAX_TRADES, trimVenue } from '../../src/paper/keeper/memoryLimits.ts'
import { createVenue, type VenueOptions } from '../../src/paper/server/venue.ts'
import { encodeState } from '../../src/paper/venue/stateLog.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, manualClock, startVenue, trader, usd } from './support.ts'

function quietVenue(options: Partial<VenueOptions> & { traders: number }) {
  const { traders, ...rest } = options
  const clock = manualClock()
  const venue = createVenue({ clock, chain: chains.arbitrum, seed: 7, settings: { traders }, ...rest })
  const pass = (seconds: number, stepSeconds = 5): void => {
    for (let at = 0; at < seconds; at += stepSeconds) {
      clock.move(stepSeconds * 1000)
      venue.advance()
    }
  }
  return { clock, venue, venueState: venue.venueState, pass }
}

test('open interest, capacity and funding move by themselves', async () => {
  const paper = await startVenue({ settings: { traders: 40 } })
  try {
    const look = async (): Promise<Any> => {
      const row = ((await paper.get('/markets/tickers')).body as Any[])[0]
      const { longInterestUsd, shortInterestUsd } = ((await paper.get('/markets/info')).body as Any[])[0]
      const { availableLiquidity } = row.capacityLong
      return { longInterestUsd, shortInterestUsd, availableLiquidity, fundingRateLong: row.fundingRateLong }
    }
    const before = await look()
    for (let minute = 0; minute < 40; minute += 1) {
      paper.clock.move(60_000)
      paper.venue.advance()
    }
    const after = await look()
    for (const name of Object.keys(before)) expect(after[name], name).not.toBe(before[name])
    // The population is on the wire like anybody: its trades are in the history.
    const { venueState } = paper.venue
    const [someone] = venueState.positions.values()
    const rows = (await paper.get(`/trades?address=${someone?.account}`)).body
    expect(JSON.stringify(rows)).toContain('OrderExecuted')
  } finally {
    await paper.close()
  }
})

test('without traders the market is quiet', () => {
  const { venueState, pass } = quietVenue({ traders: 0 })
  const before = encodeState(venueState.markets.map(({ state }) => state.long.interestUsd))
  pass(600)
  expect(encodeState(venueState.markets.map(({ state }) => state.long.interestUsd))).toBe(before)
  expect(venueState.trades).toEqual([])
})

test('the same seed and clock give the same world, another seed another', () => {
  const run = (seed: number): string => {
    const { venueState, pass } = quietVenue({ traders: 20, seed })
    pass(900)
    return encodeState([
      venueState.trades,
      venueState.markets.map(({ state }) => state),
      [...venueState.positions.values()],
    ])
  }
  const one = run(7)
  expect(run(7)).toBe(one)
  expect(run(8)).not.toBe(one)
})

test('the population goes on after a restart as if there had been none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-traders-'))
  try {
    const whole = quietVenue({ traders: 20 })
    whole.pass(600)
    whole.pass(600)
    const stateFile = join(folder, 'world.json')
    const first = quietVenue({ traders: 20, stateFile })
    first.pass(600)
    first.venue.save()
    const clock = manualClock(first.clock.now())
    const second = createVenue({ clock, chain: chains.arbitrum, settings: { traders: 20 }, stateFile })
    for (let at = 0; at < 600; at += 5) {
      clock.move(5000)
      second.advance()
    }
    expect(encodeState(second.venueState.markets.map(({ state }) => state))).toBe(
      encodeState(whole.venueState.markets.map(({ state }) => state)),
    )
    expect(second.venueState.trades.length).toBe(whole.venueState.trades.length)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a thousand traders leave the world small', { timeout: 60_000 }, () => {
  const { venueState, pass } = quietVenue({ traders: 1000 })
  pass(1800, 30)
  const orders = venueState.counters.order
  expect(orders).toBeGreaterThan(2000)
  expect(venueState.trades.length).toBeLessThanOrEqual(MAX_POPULATION_TRADES)
  expect(venueState.outcomes.size).toBe(0)
  expect(venueState.operations.size).toBe(0)
  expect(venueState.positions.size).toBeLessThanOrEqual(2000)
  expect(venueState.due.length).toBeLessThan(1100)
  expect(venueState.accounts.size).toBeLessThanOrEqual(1000)
})

test('over a limit the oldest goes, the population never drives people out, and nothing pending goes', () => {
  const { venueState, pass } = quietVenue({ traders: 3 })
  pass(1200)
  const [row] = venueState.trades
  if (row === undefined) throw new Error('nobody traded')
  venueState.trades.unshift({ ...row, id: 'mine', account: trader.address })
  for (let i = 0; i < MAX_POPULATION_TRADES; i += 1) venueState.trades.push({ ...row, id: `p${i}` })
  venueState.populationTrades += MAX_POPULATION_TRADES
  trimVenue(venueState)
  expect(venueState.trades[0]?.id).toBe('mine')
  expect(venueState.trades.at(-1)?.id).toBe(`p${MAX_POPULATION_TRADES - 1}`)
  expect(venueState.trades.length).toBe(1 + MAX_POPULATION_TRADES * 0.9)

  for (let i = 0; i <= MAX_TRADES + MAX_POPULATION_TRADES; i += 1) {
    venueState.trades.push({ ...row, id: `m${i}`, account: trader.address })
  }
  trimVenue(venueState)
  expect(venueState.trades.length).toBeLessThanOrEqual(MAX_TRADES)

  const deadline = BigInt(Math.floor(venueState.clock.now() / 1000))
  const pending = { status: 'pending', relayParams: { deadline } } as Any
  venueState.operations.set('first', pending)
  const { mostRequests } = venueState.settings
  for (let i = 0; i < mostRequests; i += 1) {
    venueState.operations.set(`o${i}`, { status: 'executed', relayParams: { deadline } } as Any)
  }
  trimVenue(venueState)
  expect(venueState.operations.size).toBe(mostRequests * 0.9)
  expect(venueState.operations.get('first')).toBe(pending)
})

test('a venue remembers no more requests, operations, submits and trades than it is told to, and saves no more transactions', async () => {
  const paper = await startVenue({ settings: { keeperJitterMs: 0, mostRequests: 2, mostTrades: 3 } })
  try {
    for (let trade = 0; trade < 4; trade += 1)
      expect(await paper.trade({ size: usd(500) })).toMatchObject({ status: 'executed' })
    const { peers, venueState } = paper.venue
    expect(venueState.counters.request).toBe(4)
    expect(Math.max(...peers.map(({ byRequestId }) => byRequestId.size))).toBe(2)
    expect(Math.max(...peers.map(({ byIdempotencyKey }) => byIdempotencyKey.size))).toBe(2)
    paper.venue.advance()
    expect(venueState.operations.size).toBe(2)
    expect(paper.venue.record().length).toBe(2)
    const newest = venueState.trades.at(-1)
    expect(venueState.trades.length).toBe(3)
    expect(newest?.eventName).toBe('OrderExecuted')
    expect(venueState.outcomes.size).toBe(3)
    const saved = savedBlockChain(venueState.blockChain, () => false, 2)
    expect(venueState.blockChain.transactions.length).toBeGreaterThan(2)
    expect(saved.transactions.map(({ hash }) => hash)).toEqual(
      venueState.blockChain.transactions.slice(-2).map(({ hash }) => hash),
    )
  } finally {
    await paper.close()
  }
})

test('an account trades among the others as it would alone', async () => {
  const paper = await startVenue({ settings: { keeperJitterMs: 0, traders: 30 } })
  try {
    paper.clock.move(600_000)
    expect(await paper.trade({ size: usd(500) })).toMatchObject({ status: 'executed' })
    expect(await paper.positions()).toHaveLength(1)
  } finally {
    await paper.close()
  }
})
