/** `perpd explain` over every kind of story: what proves the end, and what would have happened otherwise. */
import { expect, test } from 'vitest'
import { SCREEN_COLUMNS, wrapped } from '../../src/cli/output/screen.ts'
import { explainText } from '../../src/cli/story/explainText.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { foldRecords } from '../../src/domain/machine/fold.ts'
import type { Evidence, Intent } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { ExplainContext } from '../../src/monitor/explain/explainParts.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, intentOf, startMs } from '../support/intents.ts'

const host = 'https://arbitrum.gmxapi.io/v1'
const keyOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const
const chain: ExplainContext = {
  rules: { source: 'chain', trustVenue: false, deadlineMarginMs: 0, nowMs: startMs },
  endings: [],
  attemptsPerCause: 12,
  feeToken: { symbol: 'USDC', decimals: 6 },
}
const apiOnly: ExplainContext = {
  ...chain,
  rules: { source: 'api', trustVenue: false, deadlineMarginMs: 0, nowMs: startMs },
}
const paper: ExplainContext = {
  ...chain,
  rules: { source: 'api', trustVenue: true, deadlineMarginMs: 0, nowMs: startMs },
}

function onChain(level: 'chain-final' | 'chain-latest', statement: string, number = 1_000n): Evidence {
  return {
    level,
    atMs: startMs + 5_000,
    statement,
    block: { number, hash: `0x${'b1'.repeat(32)}`, timestampSeconds: startMs / 1000 + 4 },
    logIndex: 7,
    endpoints: ['https://one.example', 'https://two.example'],
    transactionHashes: [`0x${'7a'.repeat(32)}`],
  }
}

interface Told {
  readonly text: string
  /** The same on one line. */
  readonly flat: string
}

/** The text of a story; every line of it fits the screen. */
function told(context: ExplainContext, steps: readonly object[], fields: Partial<Intent> = {}): Told {
  const intent = intentOf(fields)
  const records = [{ kind: 'intent.accepted', intent }, ...steps].map((record, index) => ({
    seq: index + 1,
    record: {
      v: RECORD_VERSION,
      atMs: startMs + index * 1_000,
      intentId: intent.intentId,
      ...record,
    } as JournalRecord,
  }))
  const state = foldRecords(records.map(({ record }) => record))
  if (state === undefined) throw new Error('no records')
  const text = explainText(state, records, context)
  expect(text.split('\n').filter((line) => line.length > SCREEN_COLUMNS)).toEqual([])
  return { text, flat: text.replace(/\s+/g, ' ') }
}

const preparing = { kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host }
const armed = { kind: 'attempt.armed', attempt: 1, armed: armedFacts({ host, comparedFields: 48 }) }
const sent = {
  kind: 'send.result',
  attempt: 1,
  send: {
    result: 'accepted',
    httpStatus: 200,
    status: 'relay_accepted',
    taskId: 'task-1',
    durationMs: 212,
    traceId: 'tr-9',
  },
}
const unanswered = { kind: 'send.result', attempt: 1, send: { result: 'unanswered', message: 'timeout' } }
const landed = (evidence: Evidence, count = 1, roles: readonly string[] = ['main']) => ({
  kind: 'landed',
  attempt: 1,
  orderKeys: Array.from({ length: count }, (_, index) => keyOf(index + 10)),
  roles,
  evidence,
})
const executed = (evidence: Evidence, child = 0) => ({
  kind: 'child.executed',
  attempt: 1,
  child,
  orderKey: keyOf(child + 10),
  evidence,
  settlement: { executionPrice: usd('1801.5'), sizeDeltaUsd: usd(500) },
})
const closed = (outcome: string, evidence: Evidence, more: object = {}) => ({
  kind: 'intent.closed',
  closing: { outcome, code: outcome, reason: `it is ${outcome}`, evidence, ...more },
})

test('an order that the chain shows executed is told whole on one screen', () => {
  const final = onChain('chain-final', 'OrderExecuted of the order is in block 1000')
  const { text } = told(chain, [
    preparing,
    armed,
    sent,
    landed(
      onChain('chain-final', 'the digest is used, and the transaction that used it holds our signature'),
    ),
    executed(final),
    closed('EXECUTED', final),
  ])
  expect(text).toMatchInlineSnapshot(`
    "f00d00000000000000000001
    executed: increase long ETH/USD [WETH-USDC] $500.00 by eth-trend
      executed at the venue
      account 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A on arbitrum
      all times are UTC

    why     the fast average is above the slow one
            decision eth-trend@2027-01-15T08:00:00.000Z#0
    size    wanted $500.00, admitted $500.00, on data 10 ms old
            price $1,800.00 (oracle), requested slippage 1 %, collateral 250 USDC,
            reserved $500.00
    story   +0 ms     accepted at 2027-01-15 08:00:00; perpd signs nothing new for
                      it after 2027-01-15 08:01:00
            +1 s      attempt 1, order chain: request to
                      https://arbitrum.gmxapi.io/v1 to prepare
            +2 s      attempt 1: 48 fields compared, none differs; signed; cannot
                      land after 2027-01-15 08:05:00
            +3 s      attempt 1: its one submit was accepted (HTTP 200,
                      relay_accepted, after 212 ms, trace tr-9)
            +4 s      attempt 1: landed and final, 1 order created
                      the chain, final: the digest is used, and the transaction that
                      used it holds our signature
            +5 s      order 0 executed at $1,801.50
                      the chain, final: OrderExecuted of the order is in block 1000
            +6 s      closed EXECUTED: it is EXECUTED
    orders  0 EXECUTED at $1,801.50, $500.00, block 1000
    result  EXECUTED: it is EXECUTED
    proof   the chain, final, seen 2027-01-15 08:00:05: OrderExecuted of the order
            is in block 1000
            block 1000 of 2027-01-15 08:00:04, log 7, hash
            0xb1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1
            shown by https://one.example and https://two.example
            transaction
            0x7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a
    ids     attempt 1: request req-1, nonce 7
            digest
            0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1
            task task-1
            created order
            0x000000000000000000000000000000000000000000000000000000000000000a
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

test('an unknown order says what closes it, with a chain, without one, and on paper', () => {
  const steps = [preparing, armed, unanswered]
  expect(told(chain, steps).text).toMatchInlineSnapshot(`
    "f00d00000000000000000001
    unknown: increase long ETH/USD [WETH-USDC] $500.00 by eth-trend
      its outcome is not proven: it counts as exposure, and perpd polls it until
      there is proof; it is never sent again
      account 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A on arbitrum
      all times are UTC

    why     the fast average is above the slow one
            decision eth-trend@2027-01-15T08:00:00.000Z#0
    size    wanted $500.00, admitted $500.00, on data 10 ms old
            price $1,800.00 (oracle), requested slippage 1 %, collateral 250 USDC,
            reserved $500.00
    story   +0 ms     accepted at 2027-01-15 08:00:00; perpd signs nothing new for
                      it after 2027-01-15 08:01:00
            +1 s      attempt 1, order chain: request to
                      https://arbitrum.gmxapi.io/v1 to prepare
            +2 s      attempt 1: 48 fields compared, none differs; signed; cannot
                      land after 2027-01-15 08:05:00
            +3 s      attempt 1: its one submit was not answered conclusively
                      (timeout)
    proof   none yet; perpd polls its status at https://arbitrum.gmxapi.io/v1, and
            its digest cannot land after 2027-01-15 08:05:00
    ids     attempt 1: request req-1, nonce 7
            digest
            0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1
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
  expect(told(apiOnly, steps).flat).toContain(
    'If it has not landed by 2027-01-15 08:05:00, it stays unknown and counts as exposure, until rows of the account show it or an operator resolves it (perpd orders resolve). It is never sent again.',
  )
  expect(told(paper, steps).flat).toContain(
    "it will be closed as expired by the venue's own statement after that",
  )
})

test('a provisional landing says that it may be taken back', () => {
  const provisional = onChain('chain-latest', 'the digest is used')
  const { flat } = told(chain, [preparing, armed, sent, landed(provisional), executed(provisional)])
  expect(flat).toContain('the chain, provisional: the digest is used')
  expect(flat).toContain('0 EXECUTED at $1,801.50, $500.00, provisional, block 1000')
  expect(flat).toContain('Provisional: a reorganisation may remove the landing')
  expect(flat).toContain('A reorganisation may remove a provisional end; the order would then be open again.')
})

test('a landing that a reorganisation took back is unknown again', () => {
  const { flat } = told(chain, [
    preparing,
    armed,
    sent,
    landed(onChain('chain-latest', 'the digest is used')),
    {
      kind: 'attempt.unlanded',
      attempt: 1,
      evidence: onChain('chain-final', 'the chain was reorganised', 1_004n),
    },
  ])
  expect(flat).toContain('unknown: increase long')
  expect(flat).toContain(
    'a reorganisation removed its landing; unknown again the chain, final: the chain was reorganised',
  )
  expect(flat).toContain('If it has not landed by 2027-01-15 08:05:00, it will be closed as expired')
})

test('an order that the venue took and then gave up is unknown, and its word is no proof', () => {
  const evidence = { level: 'api', atMs: startMs + 4000, statement: `${host} says relay_reverted`, host }
  const { flat } = told(chain, [preparing, armed, sent, { kind: 'attempt.doubted', attempt: 1, evidence }])
  expect(flat).toContain('unknown: increase long')
  expect(flat).toContain('the venue gave up on it, which proves nothing; unknown')
  expect(flat).toContain(`${host} says relay_reverted`)
  expect(flat).toContain('proof none yet')
})

test('a dead order names the block that proves it', () => {
  const proof = onChain(
    'chain-final',
    'block 2000 is later than the signed deadline, and the digest is unused there',
    2_000n,
  )
  const { flat } = told(chain, [
    preparing,
    armed,
    unanswered,
    { kind: 'attempt.dead', attempt: 1, evidence: proof },
    closed('DEAD', proof),
  ])
  expect(flat).toContain('expired: increase long')
  expect(flat).toContain('block 2000 of 2027-01-15 08:00:04, log 7, hash')
  expect(flat).toContain('shown by https://one.example and https://two.example')
  expect(flat).toContain('If it had landed by 2027-01-15 08:05:00, its events would show it')
})

test('a digest that a stranger used up is told as that', () => {
  const proof = onChain(
    'chain-final',
    'the digest is used by a transaction with neither our signature nor our events',
  )
  const { flat } = told(chain, [
    preparing,
    armed,
    unanswered,
    { kind: 'attempt.void', attempt: 1, evidence: proof },
    closed('VOID_CONSUMED', proof),
  ])
  expect(flat).toContain('void, another transaction consumed its digest')
  expect(flat).toContain('A third party consumed its digest, so it can never land')
})

test('a cancelled order says why, and at which price it would have been executed', () => {
  const final = onChain('chain-final', 'OrderCancelled of the order is in block 1000')
  const { flat } = told(chain, [
    preparing,
    armed,
    sent,
    landed(final),
    {
      kind: 'child.cancelled',
      attempt: 1,
      child: 0,
      orderKey: keyOf(10),
      evidence: final,
      cancelReason: 'OrderNotFulfillableAtAcceptablePrice',
    },
    closed('CANCELLED', final),
  ])
  expect(flat).toContain('order 0 was cancelled by the venue: OrderNotFulfillableAtAcceptablePrice')
  expect(flat).toContain(
    'If the keeper had executed the order, then at $1,818.00 or better, it would be part of the position now.',
  )
  expect(flat).toContain(
    'Without a landing by 2027-01-15 08:05:00, it would have been closed as expired at the first later final block',
  )
})

test('the parts of a twap are told one by one', () => {
  const final = onChain('chain-final', 'seen')
  const { terms } = intentOf()
  const { text, flat } = told(
    chain,
    [
      preparing,
      armed,
      sent,
      landed(final, 3, ['part', 'part', 'part']),
      executed(final, 0),
      {
        kind: 'child.frozen',
        attempt: 1,
        child: 1,
        orderKey: keyOf(11),
        evidence: final,
        cancelReason: 'price',
      },
    ],
    { terms: { ...terms, orderType: 'twap', twap: { parts: 3, durationSeconds: 3_600 } } },
  )
  expect(text.slice(text.indexOf('orders'), text.indexOf('proof'))).toMatchInlineSnapshot(`
    "orders created
                      the chain, final: seen
            +5 s      order 0 (part) executed at $1,801.50
                      the chain, final: seen
            +6 s      order 1 (part) is frozen: price
                      the chain, final: seen
    orders  0 (part) EXECUTED at $1,801.50, $500.00, block 1000
            1 (part) FROZEN, block 1000
            2 (part) OPEN
    "
  `)
  expect(flat).toContain('2 of its orders wait at the venue for a price or a time')
  expect(flat).toContain('holds $333.33 of the limits until its end')
})

test('exits that came with an order are told as the exits they are', () => {
  const final = onChain('chain-final', 'seen')
  const { terms } = intentOf()
  const { flat } = told(
    chain,
    [preparing, armed, sent, landed(final, 2, ['main', 'stop-loss']), executed(final, 0)],
    { terms: { ...terms, tpsl: [{ type: 'stop-loss', triggerPrice: usd(1600), sizeDeltaUsd: usd(500) }] } },
  )
  expect(flat).toContain('1 (stop-loss) OPEN at $1,600.00, $500.00 ')
  expect(flat).toContain('open: increase long')
  expect(flat).not.toContain('waits at the venue for its price or time')
})

test('the relay lane is told with its own parameters and no request', () => {
  const { requestId: _, ...own } = armedFacts({ host, userNonce: 2n ** 255n, comparedFields: 40 })
  const { flat } = told(
    chain,
    [
      { ...preparing, lane: 'relay' },
      { ...armed, armed: own },
      {
        kind: 'send.result',
        attempt: 1,
        send: { result: 'accepted', txHash: `0x${'7a'.repeat(32)}`, taskId: 't' },
      },
    ],
    { lane: 'relay' },
  )
  expect(flat).toContain('attempt 1, relay lane: request to https://arbitrum.gmxapi.io/v1 to prepare')
  expect(flat).toContain('attempt 1: 40 fields compared, none differs; signed')
  expect(flat).toContain('parameters of our own, nonce 57896044... digest')
})

test('an order that never left says that nothing of it can ever land', () => {
  const evidence: Evidence = {
    level: 'local',
    atMs: startMs,
    statement: 'the journal holds no armed attempt',
  }
  const { flat } = told(chain, [
    preparing,
    closed('REFUSED_LOCAL', evidence, { code: 'TYPED_DATA_MISMATCH' }),
  ])
  expect(flat).toContain('this journal, seen 2027-01-15 08:00:00: the journal holds no armed attempt')
  expect(flat).toContain('No signature left this machine, so it could never land.')
})

test('a send that provably did not happen says what it would have meant', () => {
  const evidence: Evidence = {
    level: 'local',
    atMs: startMs,
    statement: 'the journal shows the only attempt as not sent',
  }
  const { flat } = told(chain, [
    preparing,
    armed,
    { kind: 'send.result', attempt: 1, send: { result: 'not-sent', message: 'ECONNREFUSED' } },
    closed('REFUSED_LOCAL', evidence, { code: 'NOT_SENT' }),
  ])
  expect(flat).toContain('If any byte had left this machine, perpd would count it as sent')
})

test("an operator's word is told as a word", () => {
  const evidence: Evidence = { level: 'operator', atMs: startMs, statement: 'Ada says it is dead' }
  const { flat } = told(apiOnly, [preparing, armed, unanswered, closed('DEAD', evidence)])
  expect(flat).toContain('an operator, seen 2027-01-15 08:00:00: Ada says it is dead')
  expect(flat).toContain('No evidence closed it. It could have landed until 2027-01-15 08:05:00')
})

test('the budget counts how the same decision ended before', () => {
  const { terms } = intentOf()
  const ending = {
    strategy: 'eth-trend',
    kind: 'increase',
    marketToken: terms.marketToken,
    direction: 'long',
    closedAtMs: startMs - 1_000,
    cause: 'CANCELLED OrderNotFulfillableAtAcceptablePrice',
    executionFee: 0n,
    relayFee: 0n,
  } as const
  const endings = [
    ending,
    { ...ending, direction: 'short' as const },
    ending,
    { ...ending, cause: 'executed' },
  ]
  const { flat } = told({ ...chain, endings }, [preparing, armed])
  expect(flat).toContain(
    'the same decision ended "CANCELLED OrderNotFulfillableAtAcceptablePrice" 2 of 12 times in the day before it',
  )
  expect(flat).toContain('signed fees: execution 0.0001 native, whole 0.25 USDC')
})

test('a hash keeps whole on a line of its own, as far to the left as it needs', () => {
  const digest = `0x${'d1'.repeat(32)}`
  expect(wrapped('story   +12 ms    ', `request req-1, digest ${digest} and more`)).toEqual([
    'story   +12 ms    request req-1, digest',
    `              ${digest}`,
    '                  and more',
  ])
  expect(wrapped('', digest)).toEqual([digest])
  expect(wrapped('why     ', '')).toEqual(['why'])
})

test('an order that the account itself cancelled is not told as cancelled by the venue', () => {
  const cancelReason = 'USER_INITIATED_CANCEL'
  const closing = {
    outcome: 'CANCELLED',
    code: 'CANCELLED_BY_ACCOUNT',
    reason: `the account itself cancelled the order: ${cancelReason}`,
    evidence: onChain('chain-final', 'cancelled'),
  }
  const steps = [{ kind: 'intent.closed', closing }]
  const mine = told({ ...chain, askedBy: 'as ann asked (order cafe0000)' }, steps)
  expect(mine.flat).toContain('cancelled as ann asked (order cafe0000); the position did not change')
  expect(mine.flat).not.toContain('by the venue')
  expect(told(chain, steps).flat).toContain('cancelled by another client of the account, not by this journal')
})
