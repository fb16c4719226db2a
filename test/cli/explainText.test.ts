/** How `perpd explain` words each kind of order. */
import { expect, test } from 'vitest'
import { explainText } from '../../src/cli/story/explainText.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { applyRecord } from '../../src/domain/machine/fold.ts'
import type { IntentKind } from '../../src/domain/order/intent.ts'
import type { ListedLookup } from '../../src/domain/order/orderLegs.ts'
import type { OrderTerms } from '../../src/domain/order/orderTerms.ts'
import type { JournalRecord, StoredRecord } from '../../src/domain/records.ts'
import { sizingLines } from '../../src/monitor/explain/explainSize.ts'
import { contractPriceOf, MAX_UINT256, usd } from '../../src/protocol/units.ts'
import { armedFacts, intentOf, orderKey, startMs, weth } from '../support/intents.ts'

const exitKey = `0x${'0b'.repeat(32)}` as const

function explained(
  kind: IntentKind,
  changes: Partial<OrderTerms>,
  more: readonly object[] = [],
  heldUsd?: bigint,
  listedOf?: ListedLookup,
): string {
  const base = intentOf()
  const intent = intentOf({ kind, terms: { ...base.terms, ...changes } })
  const stamp = { v: RECORD_VERSION, atMs: startMs, intentId: intent.intentId }
  const records = [{ kind: 'intent.accepted', intent }, ...more].map(
    (record, seq) => ({ seq, record: { ...stamp, ...record } as JournalRecord }) as StoredRecord,
  )
  const state = records.map(({ record }) => record).reduce(applyRecord, undefined as never)
  return explainText(state as never, records, {
    rules: { source: 'api', trustVenue: false, deadlineMarginMs: 0, nowMs: startMs },
    endings: [],
    attemptsPerCause: 12,
    feeToken: { symbol: 'USDC', decimals: 6 },
    ...(heldUsd === undefined ? {} : { heldUsd }),
    ...(listedOf === undefined ? {} : { listedOf }),
  })
}

const evidence = { level: 'api', atMs: startMs, statement: 'it was seen' } as const
const landedWith = (orderKeys: readonly string[], roles: readonly string[]) => [
  { kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host: 'http://127.0.0.1:1/v1' },
  { kind: 'attempt.armed', attempt: 1, armed: armedFacts() },
  { kind: 'send.result', attempt: 1, send: { result: 'accepted' } },
  { kind: 'landed', attempt: 1, orderKeys, roles, evidence },
]

test('an order that waits says for what, and what comes with it', () => {
  const text = explained('increase', {
    orderType: 'limit',
    triggerPrice: usd(1700),
    tpsl: [
      { type: 'take-profit', triggerPrice: usd(1900), sizeDeltaUsd: usd(250) },
      { type: 'stop-loss', triggerPrice: usd(1600), sizeDeltaUsd: usd(500) },
    ],
  })
  expect(text.replace(/\s+/g, ' ')).toContain(
    'limit increase long ETH/USD [WETH-USDC] $500.00 at $1,700.00, take-profit $1,900.00, stop-loss $1,600.00',
  )
  expect(text).toContain('waits for $1,700.00 (limit)')
  expect(text).toContain('take-profit of $250.00 at $1,900.00')
})

test('a reduction that stands on another price than a fresh one of the oracle says which', () => {
  const { sizing } = intentOf()
  const lines = (priceSource: 'ticker' | 'position' | 'old-oracle') =>
    sizingLines({ intent: intentOf({ sizing: { ...sizing, priceSource } }) } as never).join(' ')
  expect(lines('ticker')).toContain("(the venue's own mark price: no fresh oracle price)")
  expect(lines('position')).toContain("(the mark price in the position's row: no fresh oracle price)")
  expect(lines('old-oracle')).toContain("(the oracle's freshest price of any host: no fresh oracle price)")
})

test('a twap says its parts', () => {
  const text = explained('decrease', { orderType: 'twap', twap: { parts: 4, durationSeconds: 600 } })
  expect(text).toContain('twap decrease long ETH/USD [WETH-USDC] $500.00 in 4 parts')
  expect(text).toContain('4 equal parts over 10 min 0 s, the first at once')
})

test('a swap says what must come out', () => {
  const receiveToken = { symbol: 'WETH', address: weth, decimals: 18 }
  const text = explained('swap', { swap: { receiveToken, isNativeOut: false, minOutputAmount: 10n ** 17n } })
  expect(text).toContain('swap 250 USDC to WETH in ETH/USD [WETH-USDC]')
  expect(text).toContain('least output 0.1 WETH')
})

test('an edit says the order as it is to be, and that it is done', () => {
  const terms: Partial<OrderTerms> = {
    orderType: 'stop-loss',
    edit: {
      orderKey,
      sizeDeltaUsd: usd(400),
      triggerContractPrice: contractPriceOf(usd(1600), 18),
      acceptableContractPrice: MAX_UINT256,
      minOutputAmount: 0n,
      autoCancel: true,
      executionFeeIncrease: 0n,
      changed: ['size'],
    },
  }
  const closing = { outcome: 'EXECUTED', code: 'EXECUTED', reason: 'the change was made', evidence }
  const text = explained('edit', terms, [...landedWith([], []), { kind: 'intent.closed', closing }])
  expect(text).toContain('is to be $400.00 at $1,600.00, accepting any')
  expect(text).toContain('executed: edit stop-loss order of long')
  expect(text).toContain('  done at the venue')
  expect(text).toMatch(/attempt 1: landed$/m)
})

test('a cancel says its orders and no price', () => {
  const text = explained('cancel', { cancelOrderKeys: [orderKey, exitKey] })
  expect(text).toContain('cancel 2 orders of long ETH/USD [WETH-USDC]')
  expect(text).toContain(`cancels order\n        ${exitKey}`)
  expect(text).not.toContain('(oracle)')
})

test('what became of an exit is told as the exit it was', () => {
  const tpsl = [{ type: 'stop-loss', triggerPrice: usd(1600), sizeDeltaUsd: usd(500) }] as const
  const text = explained('increase', { tpsl }, [
    ...landedWith([orderKey, exitKey], ['main', 'stop-loss']),
    { kind: 'child.executed', attempt: 1, child: 0, orderKey, evidence, settlement: {} },
    {
      kind: 'child.cancelled',
      attempt: 1,
      child: 1,
      orderKey: exitKey,
      evidence,
      cancelReason: 'AUTO_CANCEL',
    },
  ])
  expect(text).toContain('order 0 executed')
  expect(text).toContain('order 1 (stop-loss) was cancelled by the venue: AUTO_CANCEL')
})

test('fees are told as they were taken for, signed and kept', () => {
  const feeEstimate = { source: 'chain', executionFee: 9n * 10n ** 13n, relayFee: 240_000n } as const
  const road = landedWith([orderKey], ['main'])
  const armed = { ...road[1], armed: armedFacts({ feeEstimate }) }
  const executed = {
    kind: 'child.executed',
    attempt: 1,
    child: 0,
    orderKey,
    settlement: { executionFeePaid: 6n * 10n ** 13n },
    evidence,
  }
  const flat = (more: readonly object[]) => explained('increase', {}, more).replace(/\s+/g, ' ')
  const told = flat([road[0], armed, ...road.slice(2), executed] as object[])
  expect(told).toContain(
    "estimated fees: execution 0.00009 native, whole 0.24 USDC, by the chain's gas price signed fees: execution 0.0001 native, whole 0.25 USDC paid: keepers kept 0.00006 native; 0.00004 native of it was returned",
  )
  const landed = { ...road[road.length - 1], feeReturnedUsd: usd('0.06') }
  expect(flat([...road.slice(0, -1), landed] as object[])).toContain(
    'the relay returned $0.06 of the whole fee, in wrapped native',
  )
  expect(told).not.toContain('the relay gave back')
  const before = flat(road)
  expect(before).not.toContain('estimated fees')
  expect(before).not.toContain('keepers kept')
})

test('an edit says what its order lacks of the execution fee', () => {
  const edit = {
    orderKey,
    sizeDeltaUsd: usd(500),
    triggerContractPrice: contractPriceOf(usd(1700), 18),
    acceptableContractPrice: 0n,
    minOutputAmount: 0n,
    autoCancel: false,
    executionFeeIncrease: 4n * 10n ** 13n,
    executionFeeHeld: 6n * 10n ** 13n,
    changed: ['trigger', 'execution-fee'],
  } as const
  const told = explained('edit', { edit }).replace(/\s+/g, ' ')
  expect(told).toContain('its execution fee of 0.00006 is topped up by 0.00004 native')
})

test('an exit is told as it is in force: at most what is still held, though more was signed', () => {
  const exits = {
    tpsl: [{ type: 'stop-loss' as const, triggerPrice: usd(1600), sizeDeltaUsd: usd(300) }],
  }
  const story = [
    ...landedWith([orderKey, exitKey], ['main', 'stop-loss']),
    {
      kind: 'child.executed',
      attempt: 1,
      child: 0,
      orderKey,
      evidence,
      settlement: { sizeDeltaUsd: usd(300) },
    },
  ]
  const changed = explained('increase', exits, story, usd(300), (key) =>
    key === exitKey ? { triggerPrice: usd(1_500), sizeDeltaUsd: usd(20) } : undefined,
  ).replace(/\s+/g, ' ')
  expect(changed).toContain(
    'OPEN at $1,500.00, $20.00, changed by another client (signed at $1,600.00 over $300.00; perpd discrepancies)',
  )
  const half = explained('increase', exits, story, usd(150)).replace(/\s+/g, ' ')
  expect(half).toContain(
    'OPEN at $1,600.00, $150.00 in force, because the position is smaller (signed for $300.00)',
  )
  expect(half).toContain('signed stop-loss of $300.00 at $1,600.00')
  const whole = explained('increase', exits, story, usd(300)).replace(/\s+/g, ' ')
  expect(whole).toContain('OPEN at $1,600.00, $300.00')
  expect(whole).not.toContain('in force')
})
