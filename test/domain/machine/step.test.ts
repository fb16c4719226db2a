import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RECORD_VERSION } from '../../../src/domain/accountRecords/recordVersion.ts'
import type { Effect } from '../../../src/domain/machine/conclude.ts'
import { applyRecord, foldRecords } from '../../../src/domain/machine/fold.ts'
import { worstCase } from '../../../src/domain/machine/intentExposure.ts'
import type { EvidenceRules } from '../../../src/domain/machine/observation.ts'
import { type MachineEvent, step } from '../../../src/domain/machine/step.ts'
import { type IntentState, isOpen, labelOf, lastAttempt } from '../../../src/domain/order/intent.ts'
import { decodeRecord, encodeRecord, type JournalRecord } from '../../../src/domain/records.ts'
import type { Trade } from '../../../src/protocol/position.ts'
import {
  armedFacts,
  emptyAccount,
  intentOf,
  observationOf,
  orderKey,
  startMs,
  statusAnswer,
  tradeOf,
} from '../../support/intents.ts'

const live: EvidenceRules = { source: 'api', trustVenue: false, deadlineMarginMs: 10_000 }
const paper: EvidenceRules = { source: 'api', trustVenue: true, deadlineMarginMs: 10_000 }

interface Run {
  state: IntentState | undefined
  readonly records: JournalRecord[]
  readonly effects: Effect[]
}

function feed(run: Run, event: MachineEvent, rules = live): void {
  for (;;) {
    const { record, effects, again } = step(run.state, event, rules)
    if (record !== undefined) {
      run.records.push(record)
      run.state = applyRecord(run.state, record)
    }
    run.effects.push(...effects)
    if (!again) return
  }
}

function armed(): Run {
  const run: Run = { state: undefined, records: [], effects: [] }
  feed(run, { type: 'accept', nowMs: startMs, intent: intentOf() })
  feed(run, { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' })
  feed(run, { type: 'signed', nowMs: startMs + 10, armed: armedFacts() })
  return run
}

function sent(result: 'accepted' | 'refused' | 'unanswered' | 'not-sent'): Run {
  const run = armed()
  feed(run, { type: 'sent', nowMs: startMs + 20, send: { result } })
  return run
}

const kindsOf = (run: Run) => run.records.map((record) => record.kind)
const label = (run: Run) => (run.state === undefined ? undefined : labelOf(run.state))
const shown = { orderKeys: [orderKey] }
const executedLook = observationOf(statusAnswer('executed', shown), emptyAccount({ trades: [tradeOf()] }))

test('a market order walks J1 to J7, one record a commit', () => {
  const run = sent('accepted')
  expect(label(run)).toBe('pending')
  feed(run, { type: 'observed', nowMs: startMs + 5000, observation: executedLook })
  expect(kindsOf(run)).toEqual([
    'intent.accepted',
    'attempt.preparing',
    'attempt.armed',
    'send.result',
    'landed',
    'child.executed',
    'intent.closed',
  ])
  expect(label(run)).toBe('executed')
  expect(run.state?.closing?.settlement).toMatchObject({
    executionPrice: 1800n * 10n ** 30n,
    feesUsd: 3n * 10n ** 29n,
  })
})

test('a submit is an effect of the committed J3 and of nothing else', () => {
  const run = sent('accepted')
  expect(run.effects.map((effect) => effect.type)).toEqual(['begin', 'prepare', 'submit', 'follow'])
})

test('an armed attempt found at start-up counts as sent: unknown, followed, never sent again', () => {
  const run = armed()
  run.effects.length = 0
  feed(run, { type: 'recovered', nowMs: startMs + 1000 })
  expect(run.effects).toEqual([{ type: 'follow', attempt: 1 }])
  expect(kindsOf(run).at(-1)).toBe('send.result')
  expect(label(run)).toBe('unknown')
})

test('an unanswered submit is unknown, holds its reservation, and closes by evidence alone', () => {
  const run = sent('unanswered')
  expect(label(run)).toBe('unknown')
  expect(worstCase(run.state === undefined ? [] : [run.state])).toBe(500n * 10n ** 30n)
  for (const answer of [
    { kind: 'not-found', host: 'h', reason: 'Transaction not found' } as const,
    { kind: 'silent', host: 'h', reason: 'timeout' } as const,
    statusAnswer('relay_accepted'),
    statusAnswer('unrecognised'),
    statusAnswer('relay_failed', { serverDateMs: startMs + 10 ** 9 }),
    statusAnswer('relay_reverted', { serverDateMs: startMs + 10 ** 9 }),
    statusAnswer('executed', shown),
  ]) {
    feed(run, {
      type: 'observed',
      nowMs: startMs + 10 ** 9,
      observation: observationOf(answer, emptyAccount()),
    })
    expect(label(run)).toBe('unknown')
  }
  feed(run, { type: 'observed', nowMs: startMs + 10 ** 9, observation: executedLook })
  expect(label(run)).toBe('executed')
  expect(worstCase(run.state === undefined ? [] : [run.state])).toBe(0n)
})

test('a refusal after the signature left closes nothing on a live chain', () => {
  const run = sent('refused')
  expect(label(run)).toBe('unknown')
  expect(isOpen(run.state as IntentState)).toBe(true)
})

for (const status of ['relay_reverted', 'relay_failed']) {
  test(`an accepted order of which the venue says ${status} is unknown until proof, from one record`, () => {
    const run = sent('accepted')
    const look = (answer: Parameters<typeof observationOf>[0]) =>
      feed(run, { type: 'observed', nowMs: startMs + 5000, observation: observationOf(answer) })
    look(statusAnswer('relay_pending'))
    expect(label(run)).toBe('pending')
    for (const answer of [status, 'relay_pending', status]) look(statusAnswer(answer, { error: 'why' }))
    expect(kindsOf(run).slice(-2)).toEqual(['send.result', 'attempt.doubted'])
    expect(run.records.at(-1)).toMatchObject({ evidence: { level: 'api', status } })
    // The journal alone gives the same word.
    const folded = foldRecords(run.records)
    expect(folded === undefined ? undefined : labelOf(folded)).toBe('unknown')
    expect(isOpen(run.state as IntentState)).toBe(true)
    expect(run.effects.filter(({ type }) => type === 'submit')).toHaveLength(1)
    feed(run, { type: 'observed', nowMs: startMs + 9000, observation: executedLook })
    expect(label(run)).toBe('executed')
  })
}

test('a cancelled order closes as cancelled with the keeper reason', () => {
  const run = sent('accepted')
  const look = observationOf(
    statusAnswer('cancelled', { ...shown, cancellationReason: 'OrderNotFulfillableAtAcceptablePrice' }),
    emptyAccount({ trades: [tradeOf({ eventName: 'OrderCancelled' })] }),
  )
  feed(run, { type: 'observed', nowMs: startMs + 5000, observation: look })
  expect(label(run)).toBe('cancelled')
  expect(run.state?.closing?.reason).toBe(
    'the keeper cancelled the order: OrderNotFulfillableAtAcceptablePrice',
  )
})

test('a host that says executed is not believed against a trade that says cancelled', () => {
  const run = sent('accepted')
  const look = observationOf(
    statusAnswer('executed', shown),
    emptyAccount({ trades: [tradeOf({ eventName: 'OrderCancelled' })] }),
  )
  feed(run, { type: 'observed', nowMs: startMs + 5000, observation: look })
  expect(lastAttempt(run.state as IntentState)?.phase).toBe('LANDED')
  expect(label(run)).toBe('pending')
})

test('a trade of another account shows nothing', () => {
  const run = sent('unanswered')
  const stranger = tradeOf({ account: '0x1563915e194D8CfBA1943570603F7606A3115508' })
  feed(run, {
    type: 'observed',
    nowMs: startMs + 5000,
    observation: observationOf(statusAnswer('executed', shown), emptyAccount({ trades: [stranger] })),
  })
  expect(label(run)).toBe('unknown')
})

const afterDeadline = { serverDateMs: (startMs / 1000 + 300) * 1000 + 10_001 }
const otherKey = `0x${'0b'.repeat(32)}` as const

test.each([
  [
    'a key of another market',
    tradeOf({ orderKey: otherKey, marketToken: '0x47c031236e19d024b42f8AE6780E44A573170703' }),
    [],
  ],
  ['a key of the other side', tradeOf({ orderKey: otherKey, direction: 'short' }), []],
  ['a key of a decrease', tradeOf({ orderKey: otherKey, orderType: 4 }), []],
  ['a key of another size', tradeOf({ orderKey: otherKey, sizeDeltaUsd: 1n }), []],
  ['a key from long before', tradeOf({ orderKey: otherKey, timestampSeconds: startMs / 1000 - 10_000 }), []],
  ['a key that another intent explains', tradeOf({ orderKey: otherKey }), [otherKey]],
] as const)('a host that names %s shows nothing', (_what, trade, explained) => {
  const run = sent('unanswered')
  const answer = statusAnswer('executed', { orderKeys: [otherKey] })
  const look = observationOf(answer, emptyAccount({ trades: [trade] }), explained)
  feed(run, { type: 'observed', nowMs: startMs + 5000, observation: look })
  expect(label(run)).toBe('unknown')
})

test('two orders cannot both be the one that was signed', () => {
  const run = sent('unanswered')
  const answer = statusAnswer('executed', { executionTxnHash: tradeOf().transactionHash })
  const trades = [tradeOf(), tradeOf({ id: 'trade-2', orderKey: otherKey })]
  feed(run, {
    type: 'observed',
    nowMs: startMs + 5000,
    observation: observationOf(answer, emptyAccount({ trades })),
  })
  expect(label(run)).toBe('unknown')
})

test('the relay transaction is enough of a hint when the venue leaves out the others', () => {
  const run = sent('unanswered')
  const answer = statusAnswer('executed', { txHash: tradeOf().transactionHash })
  const look = observationOf(answer, emptyAccount({ trades: [tradeOf()] }))
  feed(run, { type: 'observed', nowMs: startMs + 5000, observation: look })
  expect(label(run)).toBe('executed')
})

function relayed(): Run {
  const run: Run = { state: undefined, records: [], effects: [] }
  const { requestId: _none, ...facts } = armedFacts({ deadlineSeconds: startMs / 1000 + 120 })
  feed(run, { type: 'accept', nowMs: startMs, intent: intentOf({ lane: 'relay' }) })
  feed(run, { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' })
  feed(run, { type: 'signed', nowMs: startMs + 10, armed: facts })
  feed(run, { type: 'sent', nowMs: startMs + 20, send: { result: 'accepted', taskId: '0x7a' } })
  return run
}

function lookAt(run: Run, trades: readonly Trade[]): void {
  const txHash = `0x${'7c'.repeat(32)}` as const
  const observation = observationOf(statusAnswer('created', { txHash }), emptyAccount({ trades }))
  feed(run, { type: 'observed', nowMs: startMs + 5_000, observation })
}

test('an order of the relay lane ends by its trade: the relay never says more than that it landed', () => {
  const run = relayed()
  const transactionHash = `0x${'7c'.repeat(32)}` as const
  const created = tradeOf({ id: 'trade-0', eventName: 'OrderCreated', transactionHash })
  lookAt(run, [created])
  expect(kindsOf(run).at(-1)).toBe('landed')
  lookAt(run, [created, tradeOf()])
  expect(run.state?.closing?.outcome).toBe('EXECUTED')
})

test('a submit that was answered with a revert closes as reverted', () => {
  const run = armed()
  feed(run, { type: 'sent', nowMs: startMs, send: { result: 'refused', status: 'relay_reverted' } })
  const look = observationOf(statusAnswer('relay_reverted', afterDeadline), emptyAccount())
  feed(run, { type: 'observed', nowMs: startMs + 400_000, observation: look }, paper)
  expect(label(run)).toBe('reverted')
})

test('an operator closes what no evidence closes, by name; nobody else may', () => {
  const run = sent('unanswered')
  feed(run, { type: 'resolved', nowMs: startMs + 10 ** 7, as: 'dead', by: 'Ada' })
  expect(run.state?.closing).toMatchObject({
    outcome: 'DEAD',
    evidence: { level: 'operator', statement: 'Ada says it is dead' },
  })
  const open = sent('unanswered')
  const closing = {
    outcome: 'DEAD',
    code: 'X',
    reason: 'r',
    evidence: { level: 'api', atMs: 0, statement: 's' },
  } as const
  expect(() =>
    applyRecord(open.state, {
      v: RECORD_VERSION,
      kind: 'intent.closed',
      atMs: 0,
      intentId: intentOf().intentId,
      closing,
    }),
  ).toThrow('an intent closes while its digest may still land')
})

test('nothing left the machine: the intent closes as refused and was never sent', () => {
  const run = sent('not-sent')
  expect(kindsOf(run).slice(-2)).toEqual(['send.result', 'intent.closed'])
  expect(label(run)).toBe('refused')
})

test('on paper, the venue own positive word past the deadline closes an unsent order as expired', () => {
  const run = armed()
  feed(run, { type: 'recovered', nowMs: startMs + 1000 }, paper)
  feed(
    run,
    {
      type: 'observed',
      nowMs: startMs + 400_000,
      observation: observationOf(statusAnswer('prepared', afterDeadline), emptyAccount()),
    },
    paper,
  )
  expect(kindsOf(run).slice(-2)).toEqual(['attempt.dead', 'intent.closed'])
  expect(label(run)).toBe('expired')
  expect(run.state?.closing?.evidence.level).toBe('venue')
})

test.each([
  [
    'before the deadline by the venue clock',
    statusAnswer('prepared', { serverDateMs: startMs + 300_000 }),
    emptyAccount(),
  ],
  [
    'exactly at deadline and margin',
    statusAnswer('prepared', { serverDateMs: startMs + 310_000 }),
    emptyAccount(),
  ],
  [
    'without the venue clock',
    { kind: 'status', host: 'h', status: 'prepared', orderKeys: [] } as const,
    emptyAccount(),
  ],
  ['when a peer was silent', statusAnswer('prepared', afterDeadline), emptyAccount({ complete: false })],
  ['by a 404', { kind: 'not-found', host: 'h', reason: 'Transaction not found' } as const, emptyAccount()],
  [
    'when a trade could be its own',
    statusAnswer('prepared', afterDeadline),
    emptyAccount({ trades: [tradeOf()] }),
  ],
] as const)('on paper an attempt is not dead %s', (_when, answer, view) => {
  const run = sent('unanswered')
  feed(run, { type: 'observed', nowMs: startMs + 10 ** 9, observation: observationOf(answer, view) }, paper)
  expect(label(run)).toBe('unknown')
})

test('a trade that another intent explains does not keep a dead attempt open', () => {
  const run = sent('unanswered')
  const look = observationOf(
    statusAnswer('relay_reverted', afterDeadline),
    emptyAccount({ trades: [tradeOf()] }),
    [orderKey],
  )
  feed(run, { type: 'observed', nowMs: startMs + 400_000, observation: look }, paper)
  expect(label(run)).toBe('reverted')
})

test('a live chain never closes an attempt as dead without a chain endpoint', () => {
  const run = sent('unanswered')
  const look = observationOf(statusAnswer('prepared', { serverDateMs: startMs + 10 ** 10 }), emptyAccount())
  feed(run, { type: 'observed', nowMs: startMs + 10 ** 10, observation: look }, live)
  expect(label(run)).toBe('unknown')
})

test('an intent that expired before it was armed is not armed', () => {
  const run: Run = { state: undefined, records: [], effects: [] }
  feed(run, { type: 'accept', nowMs: startMs, intent: intentOf() })
  feed(run, { type: 'begin', nowMs: startMs, host: 'h' })
  feed(run, { type: 'signed', nowMs: startMs + 60_000, armed: armedFacts() })
  expect(label(run)).toBe('expired')
  expect(run.effects.some((effect) => effect.type === 'submit')).toBe(false)
})

test('the fold refuses a story that cannot have happened', () => {
  const run = sent('accepted')
  expect(() => applyRecord(run.state, run.records[2] as JournalRecord)).toThrowErrorMatchingInlineSnapshot(`
    [BaseError: The records of the journal contradict each other: attempt.armed cannot follow ACKED.
      intentId: f00d00000000000000000001
      record: attempt.armed
      phase: ACKED
      perpd stopped and sent nothing. Keep the journal file unchanged and report it.]
  `)
})

const answers = fc.oneof(
  fc
    .constantFrom(
      'prepared',
      'relay_accepted',
      'relay_pending',
      'created',
      'executed',
      'cancelled',
      'relay_failed',
      'relay_reverted',
      'unrecognised',
    )
    .chain((status) =>
      fc
        .record({ withKeys: fc.boolean(), late: fc.boolean() })
        .map(({ withKeys, late }) =>
          statusAnswer(status, { ...(withKeys ? shown : {}), ...(late ? afterDeadline : {}) }),
        ),
    ),
  fc.constant({ kind: 'not-found', host: 'h', reason: '404' } as const),
  fc.constant({ kind: 'silent', host: 'h', reason: 'timeout' } as const),
)
const views = fc.option(
  fc.record({
    complete: fc.boolean(),
    orders: fc.constant([]),
    positions: fc.constant([]),
    trades: fc.array(
      fc
        .constantFrom('OrderExecuted', 'OrderCancelled', 'OrderCreated')
        .chain((eventName) =>
          fc
            .constantFrom(orderKey, otherKey)
            .map((key) => tradeOf({ eventName, orderKey: key } as Parameters<typeof tradeOf>[0])),
        ),
      { maxLength: 2 },
    ),
  }),
  { nil: undefined },
)
const looks = fc.tuple(answers, views).map(([answer, view]) => observationOf(answer, view))

test('whatever is seen, in whatever order and over restarts: one submit, absorbing ends, and the fold is the state', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.constantFrom('accepted', 'refused', 'unanswered', 'lost' as const),
      fc.array(fc.oneof(looks, fc.constant('restart' as const)), { maxLength: 12 }),
      (trustVenue, result, happenings) => {
        const rules = trustVenue ? paper : live
        const run = armed()
        if (result !== 'lost')
          feed(run, { type: 'sent', nowMs: startMs, send: { result: result as 'accepted' } }, rules)
        for (const happening of happenings) {
          if (run.state !== undefined && !isOpen(run.state)) break
          if (happening === 'restart') {
            run.state = foldRecords(run.records.map((record) => decodeRecord(encodeRecord(record))))
            feed(run, { type: 'recovered', nowMs: startMs }, rules)
          } else if (lastAttempt(run.state as IntentState)?.phase !== 'ARMED') {
            feed(run, { type: 'observed', nowMs: startMs, observation: happening }, rules)
          }
        }
        expect(run.effects.filter((effect) => effect.type === 'submit')).toHaveLength(1)
        expect(foldRecords(run.records)).toEqual(run.state)
        const closing = run.state?.closing
        if (closing !== undefined) {
          expect(['EXECUTED', 'CANCELLED', 'DEAD']).toContain(closing.outcome)
          expect(['api', 'venue']).toContain(closing.evidence.level)
          if (closing.outcome === 'DEAD') expect(trustVenue).toBe(true)
        }
      },
    ),
    { numRuns: 2000, seed: 7 },
  )
})
