import { expect, test } from 'vitest'
import type { Facts } from '../../src/base/errors.ts'
import { Secret } from '../../src/base/secret.ts'
import { schema } from '../../src/config/configSchema.ts'
import type { Event } from '../../src/domain/event.ts'
import type { JudgedWarning } from '../../src/domain/order/warnedFacts.ts'
import { createLog, type LogOptions } from '../../src/monitor/log/log.ts'
import { createRedactor, redactUrl } from '../../src/monitor/log/redact.ts'
import { ended, listed, money, span } from '../../src/monitor/text.ts'
import { usd } from '../../src/protocol/units.ts'
import { startMs } from '../support/intents.ts'
import { armedState, everyEvent, executedState, host, intent, position, symbol, symbols } from './events.ts'

function logTo(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const time = { now: startMs }
  const log = createLog({
    level: 'info',
    format: 'pretty',
    stream: { write: (text: string) => lines.push(text) },
    now: () => time.now,
    color: false,
    ...options,
  })
  /** Lines since the last look, without the time of day and the line of the date. */
  const take = () =>
    lines
      .splice(0)
      .filter((line) => !line.endsWith('times are UTC\n'))
      .map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, '').trimEnd())
  return { log, lines, take, time }
}

test('on a terminal every event reads as one plain line', () => {
  const { log, take } = logTo({ level: 'debug' })
  for (const event of everyEvent) log.listen(event)
  expect(take().join('\n')).toMatchInlineSnapshot(`
    "perpd     perpd 0.1.0 started: profile paper on arbitrum
                        account 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A, strategies eth-trend, guard
                        venue https://arbitrum.gmxapi.io/v1
                        metrics and status at http://127.0.0.1:9464 (/metrics, /api/status), journal /var/perpd/journal.db
                        Play money.
    journal   resumed from 12 records of 2 orders in 12 ms: 1 open, 1 unresolved; tasks resumed: b1 (bracket)
    clock     this machine's clock was set back by 24 h 0 min; the hosts' clocks agree with it now. perpd follows orders and exits as before. Check this machine's clock and its time server
    perpd     recovering, no new orders yet: Open orders are looked at first
    perpd     ready: strategies are running
    feed      tickers read, 120 ms old
    feed      capacity left for a long on ETH/USD [WETH-USDC]: $1,234,567.00
    tick      eth-trend made 1 decision in 12 ms
    tick      eth-trend: tick skipped: its last turn still runs
    tick      eth-trend failed (1 in a row): No host answered. Other strategies with the same failure are counted with it; it runs again at its next tick
    tick      mine failed (2 in a row): mine.ts: it hangs. Other strategies are not affected; it runs again at its next tick
    denied    mine: strategies/mine.ts:14: the decision's sizeDeltaUsd is NaN; expected a bigint (DECISION_INVALID); perpd ignored the decision
    tick      mine is slow: decide used 81 ms of processor time; the limit is 50 (strategies.slowDecideMs). Its decisions count; other strategies are not delayed
    tick      mine pauses for 1 min 0 s: it failed 5 times in a row, last with mine.ts:3: no luck. Its position is unchanged; other strategies are not affected
    said      mine: hello
    signal    tv: signal 3 (long ETH/USD [WETH-USDC]) was accepted
    signal    a signal for tv was refused: it was sent at another time (SIGNAL_STALE)
    signal    a signal was refused: it has no proof of its sender that holds (SIGNAL_UNAUTHORIZED)
    signal    tv was given signal 3 (long ETH/USD [WETH-USDC])
    signal    tv: signal 3 "late" (long ETH/USD [WETH-USDC]) expired before the next turn; ignored
    signal    tv: signal 7 makes no order: its own long is held already
    notify    phone was notified of order-unknown
    notify    phone was not notified of test: no answer in 10 s. Trading continues
    notify    phone is too slow: a notice of order-executed was dropped. Trading continues
    decision  eth-trend wants to open a long of $500.00 on ETH/USD [WETH-USDC]: the fast average is above the slow one
    decision  eth-trend wants to end the task dip-1800: the signal is gone
    denied    eth-trend may not open a long of $500.00 on ETH/USD [WETH-USDC]: The venue has too little room (wanted $500.00, allowed $4.00)
    order     f00d0000 admitted: increase long ETH/USD [WETH-USDC] $500.00
    journal   f00d0000 intent.accepted is durable after 0.21 ms
    order     f00d0000 (increase long ETH/USD [WETH-USDC] $500.00) the venue warns before signing: Price impact is 1.2 % [HIGH_PRICE_IMPACT]. The policy signs it anyway
    order     f00d0000 (increase long ETH/USD [WETH-USDC] $500.00) NOT SIGNED: https://arbitrum.gmxapi.io/v1 prepared a message that does not match the order: message.receiver is 0xBad0, expected 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A. perpd dropped the order and the host is in cooldown; check the host before you trust it again
    order     f00d0000 submit took 12 ms
    order     f00d0000 https://arbitrum.gmxapi.io/v1 says relay_accepted
    order     f00d0000 is in flight (increase long ETH/USD [WETH-USDC] $500.00): Signed and sent
    order     f00d0000 has an unknown outcome (increase long ETH/USD [WETH-USDC] $500.00): The answer to the submit did not come. It counts as exposure; perpd polls it until there is proof, and never sends it again
    order     f00d0000 executed at $1,739.51, fees $0.30 (increase long ETH/USD [WETH-USDC] $500.00)
    order     0x0d0d…0d0d (long ETH/USD [WETH-USDC]): An entry waits more than 3000 bps from the price; order-janitor leaves it to you
    order     0x0d0d…0d0d (long ETH/USD [WETH-USDC]): The order no longer rests; order-janitor reported it before
    perpd     the control port 127.0.0.1:9464 cannot be opened (EADDRINUSE): perpd trades, and serves at http://127.0.0.1:40123 instead. Its commands find it; other clients of 127.0.0.1:9464 may reach another program. Free the port, then restart perpd
    journal   no commit waits for the 1 standby of the journal's server: a failover may lose acknowledged records
    journal   a failover of the journal loses no acknowledged records any more
    perpd     standard output accepts no lines: its reader stopped. perpd continues, drops the lines and counts them; see perpd logs for the newest
    perpd     standard output accepts lines again; 240 lines of the log were dropped
    perpd     the reader of standard output is gone: perpd continues without a log there. See perpd logs for the newest lines; restart perpd for a new reader, or set log.file
    account   $41.50 can be claimed
    account   $41.50 can be claimed; 1 call for the owner's wallet is in var/live/claim.json, unsigned. Check them and send them from the owner's wallet
    account   the amounts in var/live/claim.json were claimed; perpd removed the file
    account   the approval of the delegated key 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A is renewed: 1000 actions left (closing everything needs 4), until 2027-01-22T08:00:00.000Z. The next order carries it to the chain
    order     f00d0000 (increase long ETH/USD [WETH-USDC] $500.00) will be unwound: if it lands, perpd closes what it opens. Ada: The market turned
    order     f00d0000 cannot be unwound yet: close: DATA_TOO_OLD, the prices are old
    order     f00d0000 is unwound for Ada: the long of $500.00 that it opened is closed
    files     eth-trend: changed with its file: size.usd 250 -> 300; by Ada (/srv/perpd/strategies/eth-trend.yaml)
    tick      eth-trend is paused by Ada: The market turned. Its position and resting orders stay; to resume: perpd strategies resume eth-trend
    files     eth-trend cannot be wound down yet: close: DATA_TOO_OLD, the prices are old
    files     eth-trend is wound down: it has no resting order and no position
    order     task twap:a1b2 began for Ada: open ETH long by 500 USD in 10 parts over 60 min
    order     task twap:a1b2 waits: trading is halted: Ada says so
    order     task twap:a1b2 of Ada ended: done; $500.00 of $500.00 by 10 orders: all of it is filled
    position  long ETH/USD [WETH-USDC] $500.00, PnL before closing costs $0.99
    host      https://arbitrum.gmxapi.io/v1 GET /markets/tickers: not-now (HTTP 503) after 31 ms, attempt 1
    host      https://arbitrum.gmxapi.io/v1 is in cooldown for 30 s: Five failures in a row. Other hosts are used meanwhile
    host      the prices of https://arbitrum.gmxapi.io/v1 are stale: the newest is 10 min 0 s old. perpd uses the fallback hosts and checks this one at growing intervals
    host      https://arbitrum.gmxapi.io/v1 /positions: a row cannot be read: [1].sizeInUsd is not an unsigned whole number of at most 256 bits. perpd uses the other rows; increases wait on the possible markets, reductions continue
    host      https://arbitrum.gmxapi.io/v1 /trades: 500 rows of another account were dropped
    account   $250.50 reached the account without an order: counted as a deposit, not as a gain. The equity is now $1,000.00
    account   $40.00 left the account without an order: counted as a withdrawal, not as a loss. The equity is now $960.00
    account   8000 unexplained changes of the account exceed the recording rate: a host shows false rows, or somebody else uses the key. Increases there wait; check perpd discrepancies and the account
    account   1 unexplained change of the account is not recorded: the remaining journal space is reserved for orders. Increases there wait: give the journal more space (journal.maxMiB, or the disk)
    account   the books of long 0x70d9…6336 add up to $400.00, but the journal has $500.00: a bug in perpd; please report it with \`perpd journal export\`. Limits use positions, not books
    account   the books of long 0x70d9…6336 add up to $400.00, but the journal has $400.00 (in base units of the index token 199999, and 200000): a bug in perpd; please report it with \`perpd journal export\`. Limits use positions, not books
    notify    the chat of phone receives replies again
    account   the books of long 0x70d9…6336 match the journal again
    account   the approval is ignored: approval.json cannot be read: it is no JSON
    account   the file of the approval is valid again or gone
    price     a reduction on ETH/USD [WETH-USDC] uses the venue's own mark price, 400 ms old: no host of the oracle has a fresh price. Increases wait
    price     a reduction on ETH/USD [WETH-USDC] is signed around $2,000.00 to $2,001.00: hosts differ on the price (https://api.one/v1 $2,000.00, https://oracle.one $1,000.00 (left out)). Increases wait until they agree
    trading   trading of eth-trend is reducing: Its loss limit was reached
    market    https://arbitrum.gmxapi.io/v1 says that the longToken of ETH/USD is 0x0, and not 0x82. Increases on ETH/USD [WETH-USDC] wait, and reductions there use the pinned facts. See perpd markets
    market    1 contradiction trusted by Ada despite its hosts: ETH/USD [WETH-USDC]
    market    the chain proves ETH/USD [WETH-USDC] (0x70d95587d40A2caf56bd97485aB3Eec10Bee6336)
    tick      mine pauses: its memory has another version. Its position is unchanged. Correct its kind and load it (perpd strategies reload), or discard its memory: perpd strategies forget mine
    tick      mine starts over: Ada discarded its memory
    notify    a message to the bot of phone: stranger
    notify    commands of the chat of phone cannot be read: no answer in 10 s. Trading continues, and perpd keeps retrying
    order     f00d0000 filled at $1,739.51 (increase long ETH/USD [WETH-USDC] $500.00), fees $0.30
    order     f00d0000 long ETH/USD [WETH-USDC] is open; resting: stop-loss at $1,600.00
    order     f00d0000 (increase long ETH/USD [WETH-USDC] $500.00) not signed: the fee is above the limit: executionFee is 6, expected at most 5. Nothing was sent, https://arbitrum.gmxapi.io/v1 is not at fault, and the strategy decides again
    evidence  the end of each order is read from safe blocks of the chain, through two RPC endpoints
    chain     rpc.example read in 12 ms, block 100, final 90
    chain     our clock is 40 s ahead of the chain's time. Nothing that adds risk is signed until they agree. Check this machine's clock and the lag of the endpoints
    chain     rpc.example is ignored for the time: its newest block is 15 min 0 s ahead of our clock and the hosts'. Another endpoint gives the time, and orders continue; no end is proven before this one agrees. Check this endpoint, or remove it from the configuration and restart perpd
    position  long ETH/USD [WETH-USDC] of $500.00 is unmanaged: eth-trend opened it and does not run (its file is gone or disabled); only guard sees it. Enable eth-trend in its file and load it (perpd strategies reload), or close the position: perpd close "ETH/USD [WETH-USDC]" long
    account   The venue liquidated the long ETH/USD [WETH-USDC]. Increases on this market wait; settle it: perpd discrepancies adopt trade-77 --by NAME, or ignore in place of adopt
    account   adopted: The venue liquidated the long ETH/USD [WETH-USDC]
    account   an equity reading of $90,000.00 is far from the $1,000.00 of the last minute; it counts once most readings confirm it
    account   12 actions of the approval left
    account   the approval of the delegated key 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A ends soon: 12 actions left (closing everything needs 4), and it lasts 1 h 0 min more. Renew it: perpd subaccount approve
    account   the renewal of the delegated key's approval is in var/live/approval.json, unsigned: 1000 actions beyond the 40 used (counted by the chain), until 2027-01-22T08:00:00.000Z. Sign it with the owner's wallet, and import the signature: perpd subaccount approve --request var/live/approval.json --signature FILE
    kill      kill: closing 2 positions at the market
    kill      the kill makes no progress: the price of ETH is too old. perpd keeps retrying
    limits    limits changed by Ada: maxOrderUsd from 500 to 250
    limits    limits changed since the last run: maxOrderUsd from 250 to 500
    market    Ada trusts ETH/USD [WETH-USDC] (0x70d95587d40A2caf56bd97485aB3Eec10Bee6336)
    alive     1 position, notional $500.00, 1 open order, 0 unresolved
    perpd     SIGTERM: no new orders; following 1 order in flight for up to 10 s. A second signal exits at once; both are safe
    perpd     stopped after 1 h 2 min, no order open
                        1 position stays open and unmanaged until the next start:
                        long ETH/USD [WETH-USDC] of $500.00"
  `)
})

test('for machines a line is JSON with stable names, amounts as text and no secret', () => {
  const { log, lines } = logTo({ format: 'json', runId: 'run-1' })
  log.listen(everyEvent[0] as Event)
  log.listen({
    type: 'order.moved',
    intent,
    from: 'unknown',
    to: 'executed',
    reason: 'Seen.',
    state: executedState,
  })
  expect(lines.map((line) => JSON.parse(line))[1]).toMatchInlineSnapshot(`
    {
      "account": "0x19E7…ff2A",
      "chain": "arbitrum",
      "code": "EXECUTED",
      "digest": "0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1",
      "direction": "long",
      "event": "order.moved",
      "execution_fee": "100000000000000",
      "host": "https://arbitrum.gmxapi.io/v1",
      "intent_id": "f00d00000000000000000001",
      "kind": "increase",
      "latency_ms": 1600,
      "level": "info",
      "market": "ETH/USD [WETH-USDC]",
      "message": "f00d0000 executed at $1,739.51, fees $0.30 (increase long ETH/USD [WETH-USDC] $500.00)",
      "outcome": "EXECUTED",
      "reason": "Seen.",
      "request_id": "req-1",
      "run_id": "run-1",
      "settlement": {
        "executionPrice": "1739510000000000000000000000000000",
        "executionPriceDollars": "1739.51",
        "feesDollars": "0.3",
        "feesUsd": "300000000000000000000000000000",
        "venuePnlDollars": "0",
        "venuePnlUsd": "0",
      },
      "size_delta_dollars": "500",
      "size_delta_usd": "500000000000000000000000000000000",
      "state_from": "unknown",
      "state_to": "executed",
      "strategy": "eth-trend",
      "task_id": "task-1",
      "ts": "2027-01-15T08:00:00.000Z",
      "whole_fee": "250000",
    }
  `)
  expect(lines.join('')).not.toContain('51'.repeat(65))
})

test('a start under a halt does not say that strategies simply run', () => {
  const { log, take } = logTo({})
  log.listen({ type: 'daemon.ready', held: 'trading is halted by kill, root: enough' })
  expect(take().join()).toContain(
    'ready, but trading is halted by kill, root: enough: strategies run, and this blocks their orders',
  )
})

test('lines below the level are not written', () => {
  const { log, take } = logTo({ level: 'warn' })
  for (const event of everyEvent) log.listen(event)
  log.note('console.served', 'info', 'not this')
  log.note('key.warned', 'warn', 'but this')
  expect(take().map((line) => line.split(' ')[0])).toEqual([
    'clock',
    'tick',
    'tick',
    'denied',
    'tick',
    'tick',
    'signal',
    'signal',
    'signal',
    'signal',
    'notify',
    'notify',
    'order',
    'order',
    'order',
    'order',
    'perpd',
    'journal',
    'perpd',
    'perpd',
    'perpd',
    'account',
    'order',
    'order',
    'files',
    'tick',
    'files',
    'order',
    'host',
    'host',
    'host',
    'host',
    'host',
    'account',
    'account',
    'account',
    'account',
    'account',
    'account',
    'price',
    'price',
    'trading',
    'market',
    'tick',
    'notify',
    'order',
    'chain',
    'chain',
    'position',
    'account',
    'account',
    'account',
    'account',
    'kill',
    'kill',
    'limits',
    'limits',
    'market',
    'perpd',
    'warn',
  ])
})

test('an idle day is at most twenty lines an hour, that say that it lives', () => {
  const { log, take, time } = logTo()
  const hours = 24
  for (let second = 0; second < hours * 3_600; second += 5) {
    time.now = startMs + second * 1_000
    log.listen({ type: 'tick.done', strategy: 'eth-trend', durationMs: 3, decisions: 0 })
    log.listen({ type: 'feed.read', feed: 'tickers', ageMs: 5 })
    log.listen({ type: 'account.positions', positions: [position], symbols })
    log.listen({
      type: 'host.attempt',
      route: '/x',
      method: 'GET',
      host,
      attempt: 1,
      status: 200,
      durationMs: 3,
      outcome: 'ok',
    })
    if (second % Number(schema.log.heartbeatSeconds.default) === 0) {
      log.listen({ type: 'daemon.heartbeat', openIntents: 0, unresolved: 0, positions: 1, exposureUsd: 0n })
    }
  }
  const told = take()
  expect(told.length).toBeLessThanOrEqual(hours * 20)
  expect(told.filter((line) => line.startsWith('alive')).length).toBeGreaterThan(hours * 10)
})

test('a cause that repeats is told first, at its tenth time and hourly, and its end is told once', () => {
  const { log, take, time } = logTo()
  const fail = () =>
    log.listen({
      type: 'host.attempt',
      route: '/x',
      method: 'GET',
      host,
      attempt: 1,
      durationMs: 100,
      outcome: 'timeout',
    })
  const succeed = () =>
    log.listen({
      type: 'host.attempt',
      route: '/x',
      method: 'GET',
      host,
      attempt: 1,
      status: 200,
      durationMs: 5,
      outcome: 'ok',
    })
  for (let count = 0; count < 800; count++) {
    fail()
    time.now += 5_000
  }
  expect(take()).toEqual([
    `host      ${host} GET /x: timeout after 100 ms, attempt 1`,
    `host      ${host} GET /x: timeout after 100 ms, attempt 1 (10 times in 45 s)`,
    `host      ${host} GET /x: timeout after 100 ms, attempt 1 (730 times in 1 h 0 min)`,
  ])
  succeed()
  expect(take()).toEqual([])
  time.now += 30_000
  succeed()
  succeed()
  expect(take()).toEqual([`host      ${host} responds again after 800 failed requests`])
})

test('an endpoint that is set aside is told once with what follows from it, and once when it tells the time again', () => {
  const { log, take } = logTo()
  const at = (aheadSeconds: number, healthy: number, isSetAside = true) =>
    log.listen({ type: 'chain.time', endpoint: 'rpc.test', aheadSeconds, isSetAside, healthy })
  at(-2, 2, false)
  at(-150, 1)
  at(-151, 1)
  at(-152, 1)
  expect(take()).toEqual([
    "chain     rpc.test is ignored for the time: its newest block is 2 min 30 s behind our clock and the hosts'. Another endpoint gives the time, and orders continue; no end is proven before this one agrees. Check this endpoint, or remove it from the configuration and restart perpd",
  ])
  at(-160, 0)
  at(-161, 0)
  expect(take()).toEqual([
    expect.stringContaining('No endpoint gives the time: increases wait, reductions continue,'),
  ])
  at(-20, 2, false)
  at(-20, 2, false)
  expect(take()).toEqual(['chain     rpc.test gives the right time again; it was ignored for 5 orders'])
  at(7_200, 1)
  expect(take()).toEqual([
    expect.stringContaining("its newest block is 2 h 0 min ahead of our clock and the hosts'. "),
  ])
})

test('a wish that is denied at every turn is told once with its reason, and again when it is admitted', () => {
  const { log, take, time } = logTo()
  const { decision, decisionKey, strategy } = intent
  const denial = { code: 'NO_ROOM', reason: 'No room.' }
  for (let turn = 0; turn < 5; turn++) {
    log.listen({ type: 'decision.made', strategy, decisionKey, decision, symbol })
    log.listen({ type: 'decision.denied', strategy, decisionKey, decision, symbol, denial })
    time.now += 5_000
  }
  expect(take()).toEqual([
    'decision  eth-trend wants to open a long of $500.00 on ETH/USD [WETH-USDC]: the fast average is above the slow one',
    'denied    eth-trend may not open a long of $500.00 on ETH/USD [WETH-USDC]: No room',
  ])
  log.listen({ type: 'decision.admitted', intent })
  log.listen({ type: 'decision.made', strategy, decisionKey, decision, symbol })
  expect(take()).toHaveLength(2)
})

test('a strategy that works again after failures says so', () => {
  const { log, take } = logTo()
  const strategy = 'eth-trend'
  for (const failures of [1, 2, 3]) log.listen({ type: 'tick.failed', strategy, reason: 'Boom.', failures })
  log.listen({ type: 'tick.done', strategy, durationMs: 1, decisions: 0 })
  log.listen({ type: 'tick.done', strategy, durationMs: 1, decisions: 0 })
  expect(take()).toEqual([
    'tick      eth-trend failed (1 in a row): Boom. Other strategies are not affected; it runs again at its next tick',
    'tick      eth-trend works again after 3 failures',
  ])
})

test('positions are told when one appears, changes size or disappears', () => {
  const { log, take } = logTo()
  const tell = (positions: readonly (typeof position)[]) =>
    log.listen({ type: 'account.positions', positions, symbols })
  tell([])
  tell([position])
  tell([{ ...position, pnlAfterFeesUsd: 5n }])
  tell([{ ...position, sizeInUsd: position.sizeInUsd / 2n }])
  tell([])
  expect(take()).toEqual([
    'position  long ETH/USD [WETH-USDC] $500.00, PnL before closing costs $0.99',
    'position  long ETH/USD [WETH-USDC] $250.00, PnL before closing costs $0.99',
    'position  the account has no positions',
  ])
})

test('amounts show whole cents, and smaller ones their digits', () => {
  const shown = ['1234.5', '0.3', '-0.09661', '0', '0.001234', '-0.0049'].map((text) => money(usd(text)))
  expect(shown).toEqual(['$1,234.50', '$0.30', '-$0.10', '$0.00', '$0.0012', '-$0.0049'])
})

test('spans of time are told in the unit that fits', () => {
  expect([0, 0.214, 3.4, 999, 12_345, 60_000, 125_000, 7_380_000].map(span)).toEqual([
    '0 ms',
    '0.21 ms',
    '3 ms',
    '999 ms',
    '12.3 s',
    '1 min 0 s',
    '2 min 5 s',
    '2 h 3 min',
  ])
})

test('a thousand causes are remembered at most', () => {
  const { log, take, time } = logTo()
  const fail = (n: number) => {
    // Slow enough for the ceiling on lines of one kind.
    time.now += 15_000
    log.listen({ type: 'tick.failed', strategy: 'eth-trend', reason: `reason ${n}`, failures: 1 })
  }
  for (let n = 0; n < 1_001; n++) fail(n)
  expect(take()).toHaveLength(1_001)
  fail(1_000)
  fail(0)
  expect(take()).toHaveLength(1)
})

test('secrets are hidden by shape, by name and by value', () => {
  const { log, lines } = logTo({
    format: 'json',
    secrets: [
      new Secret('https://rpc.example/v2/abcdef123'),
      new Secret('postgres://me:hunter22@one:5432,other:5432/db'),
    ],
  })
  const reason =
    'no answer from https://rpc.example/v2/abcdef123 and https://me:pw@host.example/x, password hunter22'
  const facts = {
    privateKey: 'short',
    nested: [{ Authorization: 'Bearer x' }, `sig 0x${'ab'.repeat(65)}`],
    digest: `0x${'cd'.repeat(32)}`,
    armed: armedState.attempts[0]?.armed,
  }
  log.listen({ type: 'tick.failed', strategy: 'mine', failures: 1, reason, facts: facts as unknown as Facts })
  const text = lines.join('')
  for (const secret of [
    'abcdef123',
    'hunter22',
    'pw@',
    'short',
    'Bearer',
    'ab'.repeat(65),
    '51'.repeat(65),
  ]) {
    expect(text).not.toContain(secret)
  }
  expect(text).toContain('cd'.repeat(32))
  expect(createRedactor().text('plain')).toBe('plain')
  expect(['https://a.example', 'https://a.example/v2/key', 'nonsense'].map(redactUrl)).toEqual([
    'https://a.example',
    'https://a.example/[hidden]',
    '[hidden]',
  ])
})

test('of the address of a database its passwords are hidden in both forms, and no word of messages that stands in it too', () => {
  const { text } = createRedactor([
    new Secret(
      'postgres://standby:pw%2Fzz%40one@one,two:5433/journal-of-perpd?sslmode=verify-full&target_session_attrs=primary&sslpassword=of-the-key',
    ),
  ])
  const words =
    'the standby journal-of-perpd: name the primary in journal.url, end it with sslmode=verify-full'
  expect(text(words)).toBe(words)
  for (const secret of ['pw%2Fzz%40one', 'pw/zz@one', 'of-the-key'])
    expect(text(`refused: ${secret}`)).toBe('refused: [hidden]')
  expect(text('postgres://standby:short@one/db')).not.toContain('short')
})

test('the zone is said once, and again only when the day changes; a terminal gets no line that breaks a word', () => {
  const seen: string[] = []
  const stream = { write: (text: string) => seen.push(text), isTTY: true, columns: 80 }
  const { log, time } = logTo({ format: 'pretty', stream, color: false })
  log.note('console.served', 'info', 'one')
  log.note('key.warned', 'warn', `${'word '.repeat(30).trim()}\n  below it ${'word '.repeat(12).trim()}`)
  time.now += 16 * 3_600_000
  log.note('console.served', 'info', 'two')
  const text = seen.join('')
  expect(text.match(/UTC/g)).toHaveLength(2)
  expect(text).toContain('2027-01-16, times are UTC\n00:00:00  perpd     two\n')
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(text.replaceAll(/\bword\b/g, '')).not.toContain('wor')
})

test('a JSON line has decimal dollars beside each exact amount, to the last digit, and beside nothing else', () => {
  const { log, lines } = logTo({ format: 'json' })
  const amounts = {
    code: 'X',
    message: '',
    size_delta_usd: '2500000000000000000000000000000001',
    pnl_usd: '-97030643326050312124093547010',
    settlement: { executionPrice: 1740114743662008000000000000000000n, feesUsd: 0n },
    positions: [{ size_in_usd: '500000000000000000000000000000000' }],
    execution_fee: '123361780500000',
    trigger_contract_price: '1739510000000000',
    facts: { targetUsd: '7', price: 1739.5 },
    whole_usd: (2n ** 256n - 1n).toString(),
  } as unknown as JudgedWarning
  log.listen({ type: 'order.warned', intent, host, requestId: 'r', warnings: [amounts], action: 'sign' })
  expect(JSON.parse(lines[0] ?? '').warnings[0]).toEqual({
    code: 'X',
    message: '',
    size_delta_usd: '2500000000000000000000000000000001',
    size_delta_dollars: '2500.000000000000000000000000000001',
    pnl_usd: '-97030643326050312124093547010',
    pnl_dollars: '-0.09703064332605031212409354701',
    settlement: {
      executionPrice: '1740114743662008000000000000000000',
      executionPriceDollars: '1740.114743662008',
      feesUsd: '0',
      feesDollars: '0',
    },
    positions: [{ size_in_usd: '500000000000000000000000000000000', size_in_dollars: '500' }],
    execution_fee: '123361780500000',
    trigger_contract_price: '1739510000000000',
    facts: { targetUsd: '7', price: 1739.5 },
    whole_usd: (2n ** 256n - 1n).toString(),
  })
})

test('what a colon opens goes on behind it in a log of one line an event', () => {
  const { log, lines } = logTo({ format: 'json' })
  log.listen({
    type: 'daemon.stopped',
    openIntents: 0,
    positions: ['long one', 'short two'],
    uptimeMs: 1_000,
  })
  const { message } = JSON.parse(lines[0] ?? '{}') as { message?: string }
  expect(message).toContain('until the next start: long one; short two')
})

test('a sentence ends once, and three names are a list', () => {
  expect(['no host answered', 'no host answered.', 'did you mean ETH?'].map(ended)).toEqual([
    'no host answered.',
    'no host answered.',
    'did you mean ETH?',
  ])
  expect([listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'])]).toEqual(['a', 'a and b', 'a, b and c'])
})

test('in the log of one of several accounts a command names the account, in each form of the line', () => {
  const kept: string[] = []
  const { log, lines } = logTo({ format: 'json' })
  const own = log.ofAccount('beta', ({ text }) => void kept.push(text))
  const at = { strategy: 'trend', by: 'ann', reason: 'news' } as const
  for (const { listen } of [log, own]) listen({ type: 'strategy.switched', to: 'paused', ...at })
  const said = lines.map((line) => (JSON.parse(line) as { message: string }).message)
  expect(said[0]).toContain('perpd strategies resume trend')
  expect(said[1]).toContain('perpd strategies resume --account beta trend')
  expect(kept).toEqual([said[1]])
})
