import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { IntentAccepted, JournalRecord } from '../../src/domain/records.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, intentOf, orderKey, startMs } from '../support/intents.ts'
import { perpd } from './run.ts'

let cwd: string
const host = 'https://arbitrum.gmxapi.io/v1'

const first = intentOf({
  intentId: 'f00d00000000000000000001',
  decision: { ...intentOf().decision, facts: { fast: 1739.2, slow: 1737.1 } },
  sizing: {
    wantedUsd: usd(1_000),
    sizeDeltaUsd: usd(500),
    basis: 'availableLiquidity',
    capacityUsd: usd(1_234_567),
    roomUsd: usd(1_111_110),
    cuts: [{ by: 'maxOrderSizeUsd', toUsd: usd(500) }],
    dataAgeMs: 350,
  },
})
const second = intentOf({
  intentId: 'f00dbeef0000000000000002',
  decisionKey: 'btc-trend@1',
  strategy: 'btc-trend',
  acceptedAtMs: startMs + 60_000,
  expiresAtMs: startMs + 120_000,
})
const third = intentOf({
  intentId: 'abcd00000000000000000003',
  decisionKey: 'eth-trend@3',
  acceptedAtMs: startMs + 90_000,
  expiresAtMs: startMs + 150_000,
})

function records(): readonly JournalRecord[] {
  const accepted = (intent: typeof first): IntentAccepted => ({
    v: RECORD_VERSION,
    kind: 'intent.accepted',
    atMs: intent.acceptedAtMs,
    intentId: intent.intentId,
    intent,
  })
  const at = (intent: typeof first, ms: number) =>
    ({ v: RECORD_VERSION, atMs: intent.acceptedAtMs + ms, intentId: intent.intentId }) as const
  const evidence = {
    level: 'api',
    atMs: startMs + 1_600,
    statement: 'The pinned host calls it executed and a trade of the account has its order key.',
    host,
    status: 'executed',
    orderKeys: [orderKey],
    transactionHashes: [`0x${'7a'.repeat(32)}`],
    tradeIds: ['trade-1'],
  } as const
  const settlement = {
    executionPrice: usd('1739.51'),
    sizeDeltaUsd: usd(500),
    feesUsd: usd('0.3'),
    priceImpactUsd: -usd('0.05'),
    transactionHash: `0x${'7a'.repeat(32)}`,
  } as const
  return [
    accepted(first),
    { ...at(first, 1), kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host },
    {
      ...at(first, 12),
      kind: 'attempt.armed',
      attempt: 1,
      armed: armedFacts({
        host,
        validationWarnings: [{ code: 'HIGH_PRICE_IMPACT', message: 'Price impact is 1.2 %.' }],
      }),
    },
    {
      ...at(first, 15),
      kind: 'send.result',
      attempt: 1,
      send: { result: 'accepted', httpStatus: 200, status: 'relay_accepted', taskId: 'task-1' },
    },
    { ...at(first, 1_600), kind: 'landed', attempt: 1, orderKeys: [orderKey], roles: ['main'], evidence },
    { ...at(first, 1_600), kind: 'child.executed', attempt: 1, child: 0, orderKey, evidence, settlement },
    {
      ...at(first, 1_601),
      kind: 'intent.closed',
      closing: {
        outcome: 'EXECUTED',
        code: 'EXECUTED',
        reason: 'The order was executed.',
        evidence,
        settlement,
      },
    },
    accepted(second),
    { ...at(second, 1), kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host },
    {
      ...at(second, 12),
      kind: 'attempt.armed',
      attempt: 1,
      armed: armedFacts({ host, requestId: 'req-2', digest: `0x${'d2'.repeat(32)}` }),
    },
    {
      ...at(second, 20),
      kind: 'send.result',
      attempt: 1,
      send: { result: 'unanswered', message: 'timeout' },
    },
    accepted(third),
  ]
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-cli-'))
  const journal = createSqliteJournal({
    path: join(cwd, 'var/paper/journal.db'),
    clockNow: () => startMs,
    holder: 'test',
  })
  await Promise.all(records().map((record) => journal.append(record)))
  await journal.close()
})
afterAll(() => rmSync(cwd, { recursive: true }))

test('orders lists the newest first', async () => {
  const { code, out, err } = await perpd(cwd, ['orders'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatchInlineSnapshot(`
    "ID        STATUS    ORDER                                 SIZE  TYPE        PRICE   FEES  ACCEPTED (UTC)       OWNER      REASON
    abcd0000  planned   increase long ETH/USD [WETH-USDC]  $500.00  market                    2027-01-15 08:01:30  eth-trend  the fast average is above the slow one
    f00dbeef  unknown   increase long ETH/USD [WETH-USDC]  $500.00  market                    2027-01-15 08:01:00  btc-trend  the fast average is above the slow one
    f00d0000  executed  increase long ETH/USD [WETH-USDC]  $500.00  market  $1,739.51  $0.30  2027-01-15 08:00:00  eth-trend  the fast average is above the slow one"
  `)
})

test('orders filters by openness, strategy and number', async () => {
  const ids = async (...argv: string[]) =>
    JSON.parse((await perpd(cwd, ['orders', '--json', ...argv])).out).map((row: { intentId: string }) =>
      row.intentId.slice(0, 8),
    )
  expect(await ids()).toEqual(['abcd0000', 'f00dbeef', 'f00d0000'])
  expect(await ids('--open')).toEqual(['abcd0000', 'f00dbeef'])
  expect(await ids('--strategy', 'btc-trend')).toEqual(['f00dbeef'])
  expect(await ids('--limit=1')).toEqual(['abcd0000'])
  expect((await perpd(cwd, ['orders', '--limit', '1'])).err).toBe(
    'The newest 1; the journal holds 3 in all. More with --limit N',
  )
  expect((await perpd(cwd, ['orders', '--strategy', 'none'])).out).toBe(
    'No orders of none; the journal holds 3 in all.',
  )
})

test('orders --json gives every field of a row', async () => {
  const { out } = await perpd(cwd, ['orders', '--json'])
  expect(JSON.parse(out)[2]).toMatchInlineSnapshot(`
    {
      "acceptedAt": "2027-01-15T08:00:00.000Z",
      "armedAt": "2027-01-15T08:00:00.012Z",
      "closedAt": "2027-01-15T08:00:01.601Z",
      "deadlineAt": "2027-01-15T08:05:00.000Z",
      "decisionReason": "the fast average is above the slow one",
      "digest": "0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1",
      "direction": "long",
      "host": "https://arbitrum.gmxapi.io/v1",
      "intentId": "f00d00000000000000000001",
      "kind": "increase",
      "legs": [
        {
          "cancellingUsd": null,
          "changedFrom": null,
          "entryCostsUsd": null,
          "executionPrice": "1739510000000000000000000000000000",
          "feesUsd": "300000000000000000000000000000",
          "filledAt": "2027-01-15T08:00:01.600Z",
          "fundingReceivedUsd": null,
          "inForceUsd": null,
          "isEntryKnown": null,
          "isProvisional": false,
          "orderKey": "0x0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
          "ownEntryUsd": null,
          "pnlUsd": null,
          "role": "main",
          "sendingUsd": "250000000000000000000000000000",
          "sizeDeltaUsd": "500000000000000000000000000000000",
          "status": "filled",
          "triggerPrice": null,
          "venuePnlUsd": null,
        },
      ],
      "market": "ETH/USD [WETH-USDC]",
      "observedStatus": null,
      "orderType": "market",
      "outcome": "EXECUTED",
      "presumedDeadForSeconds": null,
      "reason": "The order was executed.",
      "requestId": "req-1",
      "sentAt": "2027-01-15T08:00:00.015Z",
      "sizeDeltaUsd": "500000000000000000000000000000000",
      "standing": "executed",
      "status": "executed",
      "strategy": "eth-trend",
      "taskId": "task-1",
      "triggerPrice": null,
      "unwantedBy": null,
      "warnings": [],
    }
  `)
})

test('explain tells an executed order on one screen', async () => {
  const { code, out } = await perpd(cwd, ['explain', 'f00d00000000000000000001'])
  expect(code).toBe(0)
  expect(out).toMatchInlineSnapshot(`
    "f00d00000000000000000001
    executed: increase long ETH/USD [WETH-USDC] $500.00 by eth-trend
      executed at the venue
      account 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A on arbitrum
      all times are UTC

    why     the fast average is above the slow one
            fast 1739.2, slow 1737.1
            decision eth-trend@2027-01-15T08:00:00.000Z#0
    size    wanted $1,000.00, admitted $500.00, on data 350 ms old
            capacity $1,234,567.00 (availableLiquidity), left after headroom and
            orders in flight $1,111,110.00
            cut to $500.00 by maxOrderSizeUsd
            price $1,800.00 (oracle), requested slippage 1 %, collateral 250 USDC,
            reserved $500.00
    story   +0 ms     accepted at 2027-01-15 08:00:00; perpd signs nothing new for
                      it after 2027-01-15 08:01:00
            +1 ms     attempt 1, order chain: request to
                      https://arbitrum.gmxapi.io/v1 to prepare
            +12 ms    attempt 1: 0 fields compared, none differs; signed; cannot
                      land after 2027-01-15 08:05:00
            +15 ms    attempt 1: its one submit was accepted (HTTP 200,
                      relay_accepted)
            +1.6 s    attempt 1: landed, 1 order created
                      host and own rows: The pinned host calls it executed and a
                      trade of the account has its order key.
            +1.6 s    order 0 executed at $1,739.51
                      host and own rows: The pinned host calls it executed and a
                      trade of the account has its order key.
            +1.6 s    closed EXECUTED: The order was executed.
    orders  0 EXECUTED at $1,739.51, $500.00
    warned  attempt 1, before signing: Price impact is 1.2 %. [HIGH_PRICE_IMPACT]
    result  price $1,739.51, size $500.00, fees $0.30, price impact -$0.05
    proof   host and own rows, seen 2027-01-15 08:00:01: The pinned host calls it
            executed and a trade of the account has its order key.
            host https://arbitrum.gmxapi.io/v1 says executed
            order 0x0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
            transaction
            0x7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a
            trade trade-1
    ids     attempt 1: request req-1, nonce 7
            digest
            0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1
            task task-1
            created order
            0x0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
            settled in transaction
            0x7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a
    budget  held $500.00 of the limits until its end; nothing now
            signed fees: execution 0.0001 native, whole 0.25 USDC
            no such decision of its strategy failed in the day before it
    else    Without a landing by 2027-01-15 08:05:00, it would have been closed as
            expired at the first later final block, with its digest unused on every
            endpoint.
            If the keeper had cancelled instead (a price worse than $1,818.00), the
            position would be unchanged, and its share of the limits free."
  `)
})

test('explain tells an unknown order with what it waits for', async () => {
  const { out } = await perpd(cwd, ['explain', 'f00dB'])
  expect(out).toMatchInlineSnapshot(`
    "f00dbeef0000000000000002
    unknown: increase long ETH/USD [WETH-USDC] $500.00 by btc-trend
      its outcome is not proven: it counts as exposure, and perpd polls it until
      there is proof; it is never sent again
      account 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A on arbitrum
      all times are UTC

    why     the fast average is above the slow one
            decision btc-trend@1
    size    wanted $500.00, admitted $500.00, on data 10 ms old
            price $1,800.00 (oracle), requested slippage 1 %, collateral 250 USDC,
            reserved $500.00
    story   +0 ms     accepted at 2027-01-15 08:01:00; perpd signs nothing new for
                      it after 2027-01-15 08:02:00
            +1 ms     attempt 1, order chain: request to
                      https://arbitrum.gmxapi.io/v1 to prepare
            +12 ms    attempt 1: 0 fields compared, none differs; signed; cannot
                      land after 2027-01-15 08:05:00
            +20 ms    attempt 1: its one submit was not answered conclusively
                      (timeout)
    proof   none yet; perpd polls its status at https://arbitrum.gmxapi.io/v1, and
            its digest cannot land after 2027-01-15 08:05:00
    ids     attempt 1: request req-2, nonce 7
            digest
            0xd2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2
    budget  holds $500.00 of the limits until its end
            signed fees: execution 0.0001 native, whole 0.25 USDC
            no such decision of its strategy failed in the day before it
    else    Still open: it lands when a final block shows its digest together with
            our signature or events.
            If it has not landed by 2027-01-15 08:05:00, it will be closed as
            expired at the first later final block, with its digest unused on every
            endpoint.
            If a third party consumes its digest, it closes as void. It is never
            sent again."
  `)
})

test('explain tells an order that was only accepted', async () => {
  const { out } = await perpd(cwd, ['explain', 'abcd'])
  expect(out).toMatchInlineSnapshot(`
    "abcd00000000000000000003
    planned: increase long ETH/USD [WETH-USDC] $500.00 by eth-trend
      admitted, not signed yet
      account 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A on arbitrum
      all times are UTC

    why     the fast average is above the slow one
            decision eth-trend@3
    size    wanted $500.00, admitted $500.00, on data 10 ms old
            price $1,800.00 (oracle), requested slippage 1 %, collateral 250 USDC,
            reserved $500.00
    story   +0 ms     accepted at 2027-01-15 08:01:30; perpd signs nothing new for
                      it after 2027-01-15 08:02:30
    proof   none needed yet: nothing was signed
    budget  holds $500.00 of the limits until its end
            no such decision of its strategy failed in the day before it
    else    If it is not signed by 2027-01-15 08:02:30, it closes as expired and
            cannot land."
  `)
})

test('explain --json carries the records, and no signature', async () => {
  const { out } = await perpd(cwd, ['explain', 'f00d0', '--json'])
  const story = JSON.parse(out)
  expect(
    story.steps.map((step: { kind: string; sinceAcceptedMs: number }) => [step.kind, step.sinceAcceptedMs]),
  ).toEqual([
    ['intent.accepted', 0],
    ['attempt.preparing', 1],
    ['attempt.armed', 12],
    ['send.result', 15],
    ['landed', 1600],
    ['child.executed', 1600],
    ['intent.closed', 1601],
  ])
  expect(story.intent.terms.sizeDeltaUsd).toBe('500000000000000000000000000000000')
  expect(story.alternatives[0]).toMatch(/^Without a landing by 2027-01-15 08:05:00 UTC, /)
  expect(out).not.toContain('51'.repeat(65))
})

test('an id that fits several orders, or none, ends with exit code 2', async () => {
  expect(await perpd(cwd, ['explain', 'f00d'])).toEqual({
    code: 2,
    out: '',
    err: 'f00d matches 2 orders: f00dbeef0000000000000002, f00d00000000000000000001.\n  Give more of its characters.',
  })
  expect(await perpd(cwd, ['explain', 'none'])).toEqual({
    code: 2,
    out: '',
    err: 'No order none in CWD/var/paper/journal.db.\n  perpd orders lists them.',
  })
})

test('without a journal, orders and explain end with exit code 2 and say why', async () => {
  for (const argv of [['orders'], ['explain', 'x']]) {
    expect(await perpd(cwd, [...argv, '--journal.path', 'none.db'])).toEqual({
      code: 2,
      out: '',
      err: 'There is no journal at CWD/none.db.\n  No daemon has run with the profile paper here yet, or journal.path names another place. Start one with: perpd run (in a checkout: npm start)',
    })
  }
})

test('reading changes nothing, and works beside the writer', async () => {
  const journal = createSqliteJournal({
    path: join(cwd, 'var/paper/journal.db'),
    clockNow: () => startMs,
    holder: 'test',
  })
  const before = journal.summary()
  expect((await perpd(cwd, ['orders', '--json'])).code).toBe(0)
  expect((await perpd(cwd, ['explain', 'abcd'])).code).toBe(0)
  expect(journal.summary()).toEqual(before)
  await journal.close()
})
