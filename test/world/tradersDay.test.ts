/**
 * A trader's day on one market, against the paper venue over sockets: by hand and by a strategy. A stop is placed and moved by the console's routes,
 * a chat and commands; parts are closed, a process dies with an order signed, a deposit comes, a kill leaves the exits, and these end the day. After
 * each step the books add up, and at its end the venue's own balances say the same.
 */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import { accountOf } from '../../src/paper/state/accounts.ts'
import { type Address, hexKey, sameHex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { bps, maxOf, type Usd, usd } from '../../src/protocol/units.ts'
import { type BotService, startBotService } from '../support/botService.ts'
import { folderEach } from './folderEach.ts'
import { type Operated, operatedIn } from './operated.ts'
import { lightMarkets, perpd, type Running, until } from './processes.ts'

const market = 'BTC/USD [BTC-USDC]'
/** The lowest price of the oracle, contract price: it spreads a replayed price by one in 10,000. That of USDC makes a dollar of one unit. */
const usdcPrice = 10n ** 24n
const at = (startSeconds: number, price: Usd): FileCandle => ({
  ...{ startSeconds, open: price, close: price, high: price, low: price },
})

let own: Operated
let bot: BotService
let venue: Venue
let served: ServedVenue
let btc: FileCandle[]
const folder = folderEach(async (path) => {
  own = await operatedIn(path)
  writeFileSync(
    join(path, 'once.yaml'),
    [
      ...['kind: target-exposure', `market: ${market}`, 'cadenceSeconds: 2'],
      ...['size: { usd: 500, leverage: 2, collateral: short }', 'exit: { stopLoss: { bps: 1000 } }'],
      ...['params: { targetUsd: 500 }', ''],
    ].join('\n'),
  )
})
const epochSeconds = Math.floor(Date.now() / 1_000)
beforeEach(async () => {
  bot = await startBotService()
  btc = [at(0, usd(60_000))]
  venue = createVenue({
    ...{ clock: systemClock, chain: arbitrum, seed: 7, epochSeconds },
    settings: {
      onlyMarkets: lightMarkets,
      // As of `perpd paper`: what happened is proven a second later.
      safeLagBlocks: 4,
      ...{ orderDeadlineSeconds: 8, keeperDelayMs: 300, keeperJitterMs: 0, relayDelayMs: 150, traders: 1 },
      replay: {
        series: new Map([
          ['BTC', btc],
          ['ETH', [at(0, usd(2_000))]],
          ['USDC', [at(0, usd('1.000100010001000100010001'))]],
        ]),
        speed: 1,
      },
    },
  })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 50 })
})
afterEach(async () => {
  bot.close()
  await served.close()
})

/** From now on the venue's price of the market. */
function priceIs(price: number): void {
  btc.push(at(Date.now() / 1_000 - epochSeconds, usd(price)))
}

let account = '0x'
const isOwn = (row: { readonly account: string }) => sameHex(row.account as Address, account as Address)
const heldUsd = (): Usd => [...venue.venueState.positions.values()].find(isOwn)?.state.sizeInUsd ?? 0n

/** Orders of the account that rest at the venue, `stop-loss 59000 600`, by price. */
function resting(): readonly string[] {
  const names: Readonly<Record<number, string>> = { 3: 'limit', 5: 'take-profit', 6: 'stop-loss' }
  return [...venue.venueState.orders.values()]
    .filter(isOwn)
    .map(({ params: { orderType, numbers } }) => ({
      name: names[Number(orderType)] ?? String(orderType),
      // A contract price of BTC has 22 decimals.
      price: Number(numbers.triggerPrice / 10n ** 20n) / 100,
      sizeUsd: Number(numbers.sizeDeltaUsd / 10n ** 28n) / 100,
    }))
    .toSorted((one, other) => one.price - other.price)
    .map(({ name, price, sizeUsd }) => `${name} ${price} ${sizeUsd}`)
}

/** Waits until these rest, and nothing else. */
const rests = async (daemon: Running, ...rows: string[]): Promise<void> => {
  const look = () => (resting().join() === rows.join() ? true : undefined)
  await until(`${rows.join(', ')} rest`, look, {
    timeoutMs: 60_000,
    seen: () => `${resting().join('\n')}\n${daemon.said()}`,
  })
}

const tokenOf = (name: string): string => readFileSync(join(folder.path, name), 'utf8').trim()

async function read<T>(path: string): Promise<T> {
  const headers = { authorization: `Bearer ${tokenOf('control.token.read')}` }
  const answer = await fetch(`http://127.0.0.1:${own.port}${path}`, { headers })
  expect(answer.status, path).toBe(200)
  return (await answer.json()) as T
}

/** Refusals because of an order before it, which is executed, final and listed soon: who asked is told to ask again. */
const soonLifted = /\b(?:SLOT_BUSY|REDUCE_IN_FLIGHT|ORDER_NOT_RESTING)\b/

/** A command by the route that the console posts to, again while it is refused for a moment. */
async function posted(path: string, body: object): Promise<void> {
  const post = async () => {
    const answer = await fetch(`http://127.0.0.1:${own.port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenOf('control.token')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, by: 'ann' }),
    })
    const text = await answer.text()
    return answer.status === 409 && soonLifted.test(text) ? undefined : [path, answer.status, text]
  }
  expect(await until(path, post, { timeoutMs: 60_000 })).toEqual([path, 200, expect.any(String)])
}

/** A command at the terminal, again while it is refused for a moment. */
async function asked(...words: string[]): Promise<string> {
  const ask = async () => {
    const answer = await own.command(served, ...words, '--by', 'ann')
    return answer.code !== 0 && soonLifted.test(answer.said) ? undefined : answer
  }
  const { code, said } = await until(words.join(' '), ask, { timeoutMs: 60_000 })
  expect(code, said).toBe(0)
  return said
}

/** Writes to the chat and confirms with the code that it answers. */
async function chatted(text: string): Promise<void> {
  const write = async (line: string): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${own.port}/healthz`)
    const date = Math.floor(Date.parse(answer.headers.get('date') ?? '') / 1_000) + 1
    bot.write({ date, chat: { id: -100 }, from: { id: 7, is_bot: false }, text: line })
  }
  const before = bot.said.length
  await write(text)
  const look = () => bot.said.slice(before).find((line) => /\/confirm \d{4}$/.test(line))
  const question = await until('the chat asks', look, { seen: () => bot.said.join('\n') })
  await write(`/confirm ${/\d{4}$/.exec(question)?.[0] ?? ''}`)
}

/** The resting order with this trigger, once the status shows it. */
async function shownAt(price: string, daemon: Running) {
  type Row = { readonly orderKey: string; readonly triggerPrice: string }
  const look = async () => {
    const { restingOrders } = await read<{ restingOrders: readonly Row[] }>('/api/status')
    return restingOrders.find(({ triggerPrice }) => triggerPrice === usd(price).toString())
  }
  return await until(`the status shows ${price}`, look, { timeoutMs: 30_000, seen: daemon.said })
}

interface Amounts {
  readonly pnlUsd: string
}
const sum = (amounts: readonly string[]): Usd => amounts.reduce((total, each) => total + BigInt(each), 0n)

/** Results of all books by each route that serves them, USD; `parts` adds up to the venue's position. */
async function results() {
  const books = await read<readonly { readonly sizeUsd: string; readonly results: Amounts }[]>('/api/books')
  const found: Record<string, Usd> = { books: sum(books.map(({ results }) => results.pnlUsd)) }
  for (const by of ['day', 'week', 'month', 'strategy', 'market', 'day&each=strategy']) {
    const { rows, sums } = await read<{ rows: readonly Amounts[]; sums: Amounts }>(`/api/pnl?by=${by}`)
    found[`rows by ${by}`] = sum(rows.map((row) => row.pnlUsd))
    found[`sum by ${by}`] = BigInt(sums.pnlUsd)
  }
  const { rows, sums, besides } = await read<{
    readonly rows: readonly Amounts[]
    readonly sums: Amounts
    readonly besides: { readonly openUsd: string; readonly outsideUsd: string }
  }>('/api/round-trips')
  const outside = [besides.openUsd, besides.outsideUsd]
  found['rows of closed trades'] = sum([...rows.map((row) => row.pnlUsd), ...outside])
  found['sum of closed trades'] = sum([sums.pnlUsd, ...outside])
  const { rows: days } = await read<{ rows: readonly { readonly name: string }[] }>('/api/pnl?by=day')
  found.fills = 0n
  for (const { name } of days) {
    type Day = { readonly rows: readonly { readonly resultUsd: string }[]; readonly sendingUsd: string }
    const day = await read<Day>(`/api/fills?day=${name}`)
    found.fills += sum(day.rows.map(({ resultUsd }) => resultUsd)) - BigInt(day.sendingUsd)
  }
  return { found, parts: sum(books.map(({ sizeUsd }) => sizeUsd)) }
}

/** Holds the books against each other and against the venue's position; the PnL of all, USD. */
async function booksAddUp(): Promise<Usd> {
  const records = async () =>
    (await read<{ journal: { readonly records: number } }>('/api/status')).journal.records
  for (let look = 0; look < 50; look += 1) {
    const [before, { found, parts }, after] = [await records(), await results(), await records()]
    // A message that ended between two routes is in the later one alone.
    if (before !== after) continue
    const pnlUsd = found.books ?? 0n
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, pnlUsd])))
    expect(parts).toBe(heldUsd())
    return pnlUsd
  }
  throw new Error('the journal never stood still')
}

/** The key of USDC at the venue. */
function usdcKey(): string {
  const tokens = [...venue.venueState.catalog.tokenByAddress.values()]
  return hexKey(tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? '0x')
}

/** What the venue keeps for the account of the token that backs its positions, base units. */
function holdings(address = account as Address) {
  return { usdc: accountOf(venue.venueState, address).balances.get(usdcKey()) ?? 0n }
}

test('a day by hand and by a strategy on one market adds up at each step, and at its end with the balances of the venue', {
  timeout: 900_000,
}, async () => {
  const tokenFile = join(folder.path, 'bot.token')
  writeFileSync(tokenFile, '123456:of-the-bot')
  chmodSync(tokenFile, 0o600)
  const config = join(folder.path, 'perpd.json')
  const phone = {
    ...{ type: 'telegram', name: 'phone', url: bot.url, tokenFile, chatId: '-100', level: 'error' },
    commandUserIds: ['7'],
  }
  writeFileSync(config, JSON.stringify({ notify: { sinks: [phone] } }))
  const begun = async (options: { readonly killAt?: string } = {}): Promise<Running> => {
    const flags = [`--config=${config}`, `--rpc.http=${served.rpc[0]}`, ...own.flags(served)]
    const daemon = perpd(['run', ...flags], options)
    const { account: found } = await own.when('it runs', daemon, ({ state }) => state === 'running')
    account = found
    return daemon
  }

  // The strategy opens its $500 with a stop 10 % below, then a hand adds $600 beside it.
  const first = await begun()
  // What the venue gives to every new account.
  const start = holdings(`0x${'51'.repeat(20)}`)
  await rests(first, 'stop-loss 54005.4 500')
  await shownAt('54005.4', first)
  await asked('open', market, 'long', '--size', '600', '--leverage', '2', '--yes')
  expect(heldUsd()).toBe(usd(1_100))
  await booksAddUp()

  // The stop of the hand's part: placed by the console, moved by a drag of it, then for all by the chat, then back by a command.
  await posted('/api/positions/protect', { market, direction: 'long', stopLoss: '57000', own: true })
  await rests(first, 'stop-loss 54005.4 500', 'stop-loss 57000 600')
  const dragged = await shownAt('57000', first)
  await posted(`/api/orders/${dragged.orderKey}/move`, { id: 'drag-1', price: '57500' })
  await rests(first, 'stop-loss 54005.4 500', 'stop-loss 57500 600')
  const keysOf = () => [...venue.venueState.orders.values()].filter(isOwn).map(({ key }) => key)
  expect(keysOf()).toContain(dragged.orderKey)
  await chatted(`/protect ${market} long 56000`)
  await rests(first, 'stop-loss 54005.4 500', 'stop-loss 56000 1100')
  await asked('protect', market, 'long', '--own', '--stop-loss', '58000', '--take-profit', '66000')
  await rests(first, 'stop-loss 54005.4 500', 'stop-loss 58000 600', 'take-profit 66000 600')
  expect(keysOf()).toContain(dragged.orderKey)
  await booksAddUp()

  // Up 5 %: a part is closed by hand, and the exits of the hand shrink with its part.
  priceIs(63_000)
  const gainOf = (status: { readonly positions: readonly unknown[] }): bigint =>
    BigInt((status.positions[0] as { readonly pnlUsd?: string } | undefined)?.pnlUsd ?? 0)
  await own.when('the gain shows', first, (status) => gainOf(status) > usd(40))
  // The hosts do not show a new price at one moment: until they agree on it, an order by it is refused.
  const isClosed = async () => {
    const { code } = await own.command(served, 'close', market, 'long', '--share', '20', '--yes')
    return code === 0 ? true : undefined
  }
  await until('a part is closed', isClosed, { timeoutMs: 60_000, seen: first.said })
  expect(heldUsd()).toBe(usd(880))
  await rests(first, 'stop-loss 54005.4 500', 'stop-loss 58000 380', 'take-profit 66000 380')
  const gainedUsd = await booksAddUp()
  expect(gainedUsd).toBeGreaterThan(0n)
  first.child.kill('SIGTERM')
  expect(await first.ended, first.said()).toBe(0)

  // The next part is signed when the process dies: it is closed once, and the exits are the same orders.
  const before = keysOf()
  const second = await begun({ killAt: 'send.result:before' })
  const closing = ['close', market, 'long', '--share', '25', '--yes', '--id', 'part-2', '--by', 'ann']
  await own.command(served, ...closing)
  expect(await second.ended).toBe('SIGKILL')
  const third = await begun()
  await until('the second part is closed', () => (heldUsd() === usd(660) ? true : undefined), {
    seen: third.said,
  })
  expect((await own.command(served, ...closing)).code).toBe(0)
  await rests(third, 'stop-loss 54005.4 500', 'stop-loss 58000 160', 'take-profit 66000 160')
  expect(keysOf()).toEqual(before)
  expect(await booksAddUp()).toBeGreaterThan(gainedUsd)

  // An entry waits, and money comes in: neither is a result.
  await asked(
    'open',
    market,
    'long',
    '--size',
    '200',
    '--leverage',
    '2',
    '--limit',
    '59000',
    '--far',
    '--yes',
  )
  const pnlUsd = await booksAddUp()
  // A deposit is told apart from gains against lists that stood still since the newest order.
  const isBased = async () => {
    const { journal } = await read<{ journal: { readonly intents: number } }>('/api/status')
    const kept = openSqliteReader(join(folder.path, 'journal.sqlite'))
    try {
      return (await kept.account()).trading.base?.intents === journal.intents || undefined
    } finally {
      await kept.close()
    }
  }
  await until('lists stood still', isBased, { seen: third.said })
  accountOf(venue.venueState, account as Address).balances.set(
    usdcKey(),
    holdings().usdc + 5_000n * 10n ** 6n,
  )
  type Transfers = { readonly transfers: readonly { readonly amountUsd: string }[] }
  const isTold = async () => {
    const { transfers } = await read<Transfers>('/api/status')
    return transfers.length > 0 ? transfers : undefined
  }
  const [deposit] = await until('the deposit is told', isTold, { seen: third.said })
  expect(deposit?.amountUsd).toBe(usd(5_000).toString())
  expect(await booksAddUp()).toBe(pnlUsd)

  // The kill cancels the entry and leaves the exits, over a restart too.
  await asked('kill', '--yes')
  await rests(third, 'stop-loss 54005.4 500', 'stop-loss 58000 160', 'take-profit 66000 160')
  expect(keysOf()).toEqual(before)
  third.child.kill('SIGKILL')
  await third.ended
  const last = await begun()
  const status = await own.when('it is halted', last, ({ tradingState }) => tradingState === 'halted')
  expect(status.halts).toMatchObject([{ cause: 'kill', state: 'halted' }])
  expect([keysOf(), heldUsd()]).toEqual([before, usd(660)])
  await booksAddUp()

  // Down through both stops: each closes its own part, and nothing opens again.
  priceIs(57_900)
  await rests(last, 'stop-loss 54005.4 500')
  expect(heldUsd()).toBe(usd(500))
  await booksAddUp()
  priceIs(53_900)
  await rests(last)
  expect(heldUsd()).toBe(0n)
  await own.when('nothing is in flight', last, ({ openIntents }) => openIntents.length === 0)
  const resultUsd = await booksAddUp()
  const trips = await read<{
    readonly rows: readonly {
      readonly strategy: string
      readonly reason: string
      readonly largestUsd: string
    }[]
    readonly besides: { readonly openUsd: string; readonly outsideUsd: string }
  }>('/api/round-trips')
  expect(trips.rows).toMatchObject([
    { strategy: 'once', reason: 'stop', largestUsd: usd(500).toString() },
    { strategy: '@operator', reason: 'stop', largestUsd: usd(600).toString() },
  ])
  expect(trips.besides.openUsd).toBe('0')

  // Equity less the deposit moved by the results of the day, to the fraction of a unit that each order may leave. What keepers returned of fees counts
  // where the books know its worth. The oracle's spread on a profit that is swapped is in no book (docs/books.md), and nothing else is missing.
  last.child.kill('SIGTERM')
  expect(await last.ended, last.said()).toBe(0)
  const end = holdings()
  const journal = openSqliteReader(join(folder.path, 'journal.sqlite'))
  const attempts = (await journal.intents()).flatMap((state) => state.attempts)
  await journal.close()
  const children = attempts.flatMap((each) => each.children)
  const settled = children.map(({ settlement = {} }) => settlement)
  const totalOf = (amounts: readonly (Usd | undefined)[]): Usd =>
    amounts.reduce<Usd>((total, each) => total + (each ?? 0n), 0n)
  const accountUsd =
    (end.usdc - start.usdc) * usdcPrice -
    usd(5_000) +
    totalOf(attempts.map(({ feeReturnedUsd }) => feeReturnedUsd)) +
    totalOf(settled.map(({ executionFeeReturnedUsd }) => executionFeeReturnedUsd)) +
    totalOf(settled.map(({ fundingReceivedUsd }) => fundingReceivedUsd))
  const unitsUsd = BigInt(children.length) * usdcPrice
  const profitUsd = totalOf(settled.map(({ basePnlUsd = 0n }) => maxOf(0n, basePnlUsd)))
  expect(profitUsd).toBeGreaterThan(usd(20))
  const spreadUsd = resultUsd - accountUsd
  expect(spreadUsd).toBeGreaterThan(-unitsUsd)
  expect(spreadUsd).toBeLessThan(bps(profitUsd, 5) + unitsUsd)
})
