/** A hostile host over sockets that lists what never was: what it can make the journal and the log grow is bounded. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import { discrepancyLimits } from '../../src/account/watch/discrepancyRate.ts'
import { createReconciler } from '../../src/account/watch/reconciler.ts'
import { createApi } from '../../src/api/client.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import type { Event } from '../../src/domain/event.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { createLog } from '../../src/monitor/log/log.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { manualClock } from '../paper/support.ts'
import { account, ethMarket, usdc } from '../support/intents.ts'

const stranger = '0x5555555555555555555555555555555555555555'

/** What the hostile host answers to `/trades/search`: rows of a page, made anew for every pass. */
let rowsOf: (page: number) => readonly object[] = () => []
let server: Server
let base = ''
let made = 0
beforeAll(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x')
    let asked = ''
    request.on('data', (text: Buffer) => {
      asked += text.toString()
    })
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (!/\/trades(\/search)?$/.test(url.pathname)) return void response.end('[]')
      const { cursor = url.searchParams.get('cursor') } = JSON.parse(asked || '{}') as { cursor?: string }
      const page = Number(cursor ?? '0')
      const trades = rowsOf(page)
      const hasMore = trades.length > 0 && page < 19
      response.end(JSON.stringify({ trades, hasMore, ...(hasMore ? { nextCursor: String(page + 1) } : {}) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function hash(): string {
  made += 1
  return `0x${made.toString(16).padStart(64, '0')}`
}

const row = (owner: string, atSeconds: number, id = hash()) => ({
  id,
  account: owner,
  orderKey: hash(),
  transactionHash: hash(),
  eventName: 'OrderExecuted',
  orderType: 2,
  timestamp: atSeconds,
  initialCollateralTokenAddress: usdc,
  initialCollateralDeltaAmount: '0',
  marketAddress: ethMarket,
  isLong: true,
  sizeDeltaUsd: `5${'0'.repeat(32)}`,
})

function bench(options: { readonly freeBytes?: () => number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-flood-'))
  const clock = manualClock()
  const events: Event[] = []
  let said = ''
  const log = createLog({
    level: 'info',
    format: 'json',
    stream: { write: (text: string) => (said += text) },
    now: clock.now,
  })
  const emit = (event: Event): void => {
    events.push(event)
    log.listen(event)
  }
  const { fetch, close } = createNodeFetch()
  const api = createApi({
    chain: arbitrum,
    hosts: { ...arbitrum.hosts, api: [base] },
    fetch,
    clock: {
      ...clock,
      sleep: (ms, signal) => (ms >= 1_000 ? new Promise(() => signal) : clock.sleep(ms, signal)),
    },
    random: () => 0,
    onForeign: (foreign) => emit({ type: 'rows.foreign', ...foreign }),
    onMissing: (missing) => emit({ type: 'rows.missing', ...missing }),
  })
  const journal = createSqliteJournal({
    path: join(folder, 'journal.db'),
    clockNow: clock.now,
    holder: 'test',
    ...options,
  })
  const watch = createReconciler({
    api,
    clock,
    emit,
    journal,
    openOrders: { open: () => [], recentlyLanded: () => [], sawOrders: () => undefined },
    signer: { address: account },
    trading: createTrading({ accountJournal: createAccountJournal({ journal, clock }), emit }),
  } as unknown as Parameters<typeof createReconciler>[0])
  return {
    clock,
    events,
    journal,
    watch,
    said: () => said,
    foundOf: () =>
      events.filter(
        (event) => event.type === 'account.discrepancy' && event.discrepancy.kind === 'manual-increase',
      ).length,
    close: async () => {
      close()
      await journal.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

test('10,000 executions of ours that never were, anew with every pass of an hour, fill neither journal nor log', {
  timeout: 60_000,
}, async () => {
  const one = bench()
  rowsOf = () => Array.from({ length: 500 }, () => row(account, one.clock.now() / 1000))
  for (let pass = 0; pass < 8; pass += 1) {
    await one.watch.pass({})
    one.clock.move(400_000)
  }
  expect(one.foundOf()).toBeLessThanOrEqual(discrepancyLimits.perHour)
  expect(one.watch.open().length).toBeLessThanOrEqual(discrepancyLimits.perHour)
  expect(one.journal.summary().records).toBeLessThanOrEqual(discrepancyLimits.perHour + 10)
  expect(one.said().length).toBeLessThan(200_000)
  // What is not written down holds increases as what is.
  expect(one.watch.pausing().map(({ marketToken }) => marketToken)).toContain(ethMarket)
  const held = one.events.flatMap((event) =>
    event.type === 'account.discrepanciesDeferred' ? [event.held] : [],
  )
  expect(held.at(-1)).toBeGreaterThan(9_000)
  await one.close()
})

test('rows of other accounts among ours are dropped and told once, and nothing is concluded from them', async () => {
  const one = bench()
  const ours = row(account, one.clock.now() / 1000)
  rowsOf = (page) => [
    ...(page === 0 ? [ours] : [row(account, one.clock.now() / 1000, 'again')]),
    ...Array.from({ length: 400 }, () => row(stranger, one.clock.now() / 1000)),
  ]
  for (let pass = 0; pass < 5; pass += 1) {
    await one.watch.pass({})
    one.clock.move(5_000)
  }
  expect(one.foundOf()).toBe(2)
  const told = one
    .said()
    .split('\n')
    .filter((line) => line.includes('of another account'))
  expect(told.length).toBeLessThanOrEqual(2)
  await one.close()
})

test('an answer of nothing but other accounts is one to another question: it is no empty list of ours', async () => {
  const one = bench()
  rowsOf = () => [row(stranger, one.clock.now() / 1000)]
  await expect(one.watch.pass({})).rejects.toThrow(/account is not/)
  await one.close()
})

test('the honest side: dozens of orders by hand in a day are all written down', async () => {
  const one = bench()
  const trades: object[] = []
  rowsOf = (page) => (page === 0 ? trades : [])
  for (let hour = 0; hour < 10; hour += 1) {
    for (let order = 0; order < 12; order += 1) trades.unshift(row(account, one.clock.now() / 1000))
    await one.watch.pass({})
    one.clock.move(3_600_000)
  }
  expect(one.foundOf()).toBe(120)
  expect(one.events.some(({ type }) => type === 'account.discrepanciesDeferred')).toBe(false)
  await one.close()
})

test('more than may be written at once is written by and by, and told when it is', async () => {
  const one = bench()
  const trades = Array.from({ length: 50 }, () => row(account, one.clock.now() / 1000))
  rowsOf = (page) => (page === 0 ? trades : [])
  for (let pass = 0; pass < 4; pass += 1) {
    await one.watch.pass({})
    one.clock.move(5_000)
  }
  expect(one.foundOf()).toBe(50)
  const held = one.events.flatMap((event) =>
    event.type === 'account.discrepanciesDeferred' ? [event.held] : [],
  )
  expect(held[0]).toBe(30)
  expect(held.at(-1)).toBe(0)
  await one.close()
})

test('on a disk that is nearly full nothing is noted of what a host shows, and its market waits all the same', async () => {
  let freeBytes = 10_000_000
  const one = bench({ freeBytes: () => freeBytes })
  rowsOf = (page) => (page === 0 ? [row(account, one.clock.now() / 1000, 'the same')] : [])
  const before = one.journal.summary().records
  await one.watch.pass({})
  expect(one.journal.isShort()).toBe(true)
  expect(one.foundOf()).toBe(0)
  expect(one.journal.summary().records).toBe(before)
  expect(one.watch.pausing().map(({ marketToken }) => marketToken)).toContain(ethMarket)
  freeBytes = 10_000_000_000
  one.clock.move(5_000)
  await one.watch.pass({})
  expect(one.foundOf()).toBe(1)
  await one.close()
})
