import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EndpointView, OrderLog } from '../../../src/domain/machine/chainView.ts'
import { applyRecord } from '../../../src/domain/machine/fold.ts'
import { reservedOf } from '../../../src/domain/machine/intentExposure.ts'
import type { EvidenceRules } from '../../../src/domain/machine/observation.ts'
import { type MachineEvent, step } from '../../../src/domain/machine/step.ts'
import { type BlockRef, type Intent, type IntentState, labelOf } from '../../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../../src/domain/records.ts'
import type { Hex } from '../../../src/protocol/address.ts'
import { usd } from '../../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, orderKey, startMs } from '../../support/intents.ts'

const rules: EvidenceRules = { source: 'chain', trustVenue: false, deadlineMarginMs: 0 }
const deadlineSeconds = armedFacts().deadlineSeconds
const txHash: Hex = `0x${'7a'.repeat(32)}`
const exitKey: Hex = `0x${'0b'.repeat(32)}`

/** Blocks of a second each; block 0 is at `startMs`. `branch` tells forks apart. */
function blockOf(number: number, branch = 'a'): BlockRef {
  const hash: Hex = `0x${Buffer.from(`${branch}${number}`).toString('hex').padEnd(64, '0')}`
  return { number: BigInt(number), hash, timestampSeconds: startMs / 1000 + number }
}

function created(number: number, parts: Partial<OrderLog> = {}, branch = 'a'): OrderLog {
  const key = parts.orderKey ?? orderKey
  return {
    event: 'OrderCreated',
    orderKey: key,
    transactionHash: txHash,
    block: blockOf(number, branch),
    logIndex: 3,
    created: {
      orderKey: key,
      orderType: 2,
      marketToken: ethMarket,
      direction: 'long',
      sizeDeltaUsd: usd(500),
      ...parts.created,
    },
    ...(parts.event === undefined ? {} : { event: parts.event }),
  }
}

function executed(number: number, branch = 'a', key = orderKey): OrderLog {
  return {
    event: 'OrderExecuted',
    orderKey: key,
    transactionHash: `0x${'7b'.repeat(32)}`,
    block: blockOf(number, branch),
    logIndex: 9,
    settlement: { executionPrice: usd(1800) },
  }
}

interface Shown {
  readonly latest: number
  readonly final: number
  readonly landedAt?: number
  readonly logs?: readonly OrderLog[]
  readonly signature?: boolean
  readonly branch?: string
  readonly endpoint?: string
  readonly feeReturnedUsd?: bigint
}

function endpoint(shown: Shown): EndpointView {
  const { latest, final, landedAt, branch = 'a' } = shown
  const isUsed = landedAt !== undefined && landedAt <= latest
  return {
    endpoint: shown.endpoint ?? 'rpc-1',
    latest: blockOf(latest, branch),
    final: blockOf(final, branch),
    isDigestUsedAtLatest: isUsed,
    isDigestUsedAtFinal: isUsed && landedAt <= final,
    ...(isUsed
      ? {
          consumer: {
            transactionHash: txHash,
            block: blockOf(landedAt, branch),
            carriesOurSignature: shown.signature ?? true,
            ...(shown.feeReturnedUsd === undefined ? {} : { feeReturnedUsd: shown.feeReturnedUsd }),
          },
        }
      : {}),
    logs: (shown.logs ?? []).filter(({ block }) => block.number <= latest),
  }
}

interface Run {
  state: IntentState | undefined
  readonly records: JournalRecord[]
}

function feed(run: Run, event: MachineEvent): void {
  for (;;) {
    const { record, again } = step(run.state, event, rules)
    if (record !== undefined) {
      run.records.push(record)
      run.state = applyRecord(run.state, record)
    }
    if (!again) return
  }
}

function sent(intent: Intent = intentOf(), armed = armedFacts()): Run {
  const run: Run = { state: undefined, records: [] }
  feed(run, { type: 'accept', nowMs: startMs, intent })
  feed(run, { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' })
  feed(run, { type: 'signed', nowMs: startMs, armed })
  feed(run, { type: 'sent', nowMs: startMs, send: { result: 'unanswered' } })
  return run
}

function look(run: Run, views: readonly EndpointView[], configured = views.length): void {
  feed(run, {
    type: 'observed',
    nowMs: startMs,
    observation: {
      atMs: startMs,
      answer: { kind: 'silent', host: 'h', reason: 'down' },
      chain: { configured, endpoints: views },
      explained: new Set(),
    },
  })
}

const kinds = (run: Run) => run.records.slice(4).map(({ kind }) => kind)
const held = (run: Run) => (run.state === undefined ? 0n : reservedOf(run.state))
const label = (run: Run) => (run.state === undefined ? undefined : labelOf(run.state))
const logs = [created(5), executed(7)]

describe('a landing', () => {
  test('is provisional in the latest block, final when every endpoint has it behind its finality, and then closes', () => {
    const run = sent()
    look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs })])
    expect(kinds(run)).toEqual(['landed', 'child.executed'])
    expect(held(run)).toBe(usd(500))
    look(run, [endpoint({ latest: 9, final: 6, landedAt: 5, logs })])
    expect(kinds(run)).toEqual(['landed', 'child.executed', 'landed'])
    look(run, [endpoint({ latest: 12, final: 9, landedAt: 5, logs })])
    expect(kinds(run).slice(3)).toEqual(['child.executed', 'intent.closed'])
    expect(run.state?.closing?.evidence).toMatchObject({
      level: 'chain-final',
      block: blockOf(7),
      logIndex: 9,
    })
    expect([label(run), held(run)]).toEqual(['executed', 0n])
  })

  test('needs more than a used digest: events of our own account must be in the transaction', () => {
    const run = sent()
    look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, signature: false, logs: [] })])
    expect([kinds(run), label(run)]).toEqual([[], 'unknown'])
  })

  test('of an order with other terms is none', () => {
    const run = sent()
    const order = {
      orderKey,
      orderType: 2,
      marketToken: ethMarket,
      direction: 'long',
      sizeDeltaUsd: usd(501),
    }
    look(run, [endpoint({ latest: 8, final: 8, landedAt: 5, logs: [created(5, { created: order })] })])
    expect(kinds(run)).toEqual([])
  })

  test('stays provisional while one of two endpoints is silent, lags or is on another branch', () => {
    const run = sent()
    const sees = endpoint({ latest: 20, final: 15, landedAt: 5, logs })
    look(run, [sees], 2)
    look(run, [sees, endpoint({ endpoint: 'rpc-2', latest: 4, final: 1 })])
    const other = [created(5, {}, 'b'), executed(7, 'b')]
    look(run, [
      sees,
      endpoint({ endpoint: 'rpc-2', latest: 20, final: 15, landedAt: 5, branch: 'b', logs: other }),
    ])
    expect(kinds(run)).toEqual(['landed', 'child.executed'])
    expect([label(run), held(run)]).toEqual(['pending', usd(500)])
    look(run, [sees, endpoint({ endpoint: 'rpc-2', latest: 20, final: 15, landedAt: 5, logs })])
    expect(label(run)).toBe('executed')
  })

  test('is taken back by a reorganisation, may come again in another block, and the reservation never lapses', () => {
    const run = sent()
    look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs })])
    look(run, [endpoint({ latest: 9, final: 2, branch: 'b' })])
    expect([kinds(run).at(-1), label(run), held(run)]).toEqual(['attempt.unlanded', 'unknown', usd(500)])
    const again = [created(11, {}, 'b'), executed(12, 'b')]
    look(run, [endpoint({ latest: 20, final: 15, landedAt: 11, branch: 'b', logs: again })])
    expect(run.state?.closing?.evidence.block).toEqual(blockOf(12, 'b'))
  })

  test('counts of its fee what the relay gave back as all endpoints show it, and holds nothing open where they differ', () => {
    const returned = (run: Run) => run.state?.attempts[0]?.feeReturnedUsd
    const shown = (endpoint_: string, final: number, feeReturnedUsd: bigint | undefined) =>
      endpoint({
        endpoint: endpoint_,
        latest: 20,
        final,
        landedAt: 5,
        logs: [created(5)],
        ...(feeReturnedUsd === undefined ? {} : { feeReturnedUsd }),
      })
    const same = sent()
    look(same, [shown('rpc-1', 2, 70n), shown('rpc-2', 2, 70n)])
    expect(returned(same)).toBe(70n)
    for (const other of [90n, undefined]) {
      const run = sent()
      look(run, [shown('rpc-1', 2, 70n)], 2)
      expect(returned(run)).toBe(70n)
      look(run, [shown('rpc-1', 15, 70n), shown('rpc-2', 15, other)])
      expect(run.state?.attempts[0]).toMatchObject({ phase: 'LANDED', evidence: { level: 'chain-final' } })
      expect(returned(run)).toBeUndefined()
    }
    look(same, [endpoint({ latest: 21, final: 2, branch: 'b' })])
    expect(returned(same)).toBeUndefined()
    const bundled = sent()
    const another = created(5, { orderKey: exitKey })
    look(bundled, [
      endpoint({ latest: 20, final: 15, landedAt: 5, logs: [created(5), another], feeReturnedUsd: 70n }),
    ])
    expect(returned(bundled)).toBeUndefined()
  })

  test('is not taken back by an endpoint that has not seen that far', () => {
    const run = sent()
    look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs: [created(5)] })])
    look(run, [endpoint({ latest: 4, final: 2 })])
    expect(kinds(run)).toEqual(['landed'])
  })

  test('among several that a relay bundled is the one of the size that was asked', () => {
    const base = intentOf()
    const run = sent({
      ...base,
      kind: 'decrease',
      reservationUsd: 0n,
      terms: { ...base.terms, sizeDeltaUsd: usd(200) },
    })
    const reduction = (key: Hex, size: number) =>
      created(5, {
        orderKey: key,
        created: {
          orderKey: key,
          orderType: 4,
          marketToken: ethMarket,
          direction: 'long',
          sizeDeltaUsd: usd(size),
        },
      })
    const bundled = [reduction(exitKey, 700), reduction(orderKey, 200)]
    look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs: bundled })])
    expect(run.state?.attempts[0]?.children.map((child) => child.orderKey)).toEqual([orderKey])
  })

  test('is known when the venue put the exits of an increase in another order than they were asked in', () => {
    const exit = (orderType: number, key: Hex): OrderLog =>
      created(5, {
        orderKey: key,
        created: {
          orderKey: key,
          orderType,
          marketToken: ethMarket,
          direction: 'long',
          sizeDeltaUsd: usd(500),
        },
      })
    const base = intentOf()
    const exitOf = (type: 'take-profit' | 'stop-loss', price: number) =>
      ({ type, triggerPrice: usd(price), sizeDeltaUsd: usd(500) }) as const
    const terms = { ...base.terms, tpsl: [exitOf('take-profit', 2_000), exitOf('stop-loss', 1_600)] }
    const signed = [2, 6, 5].map((orderType) => ({
      orderType,
      sizeDeltaUsd: usd(500),
      collateralAmount: 0n,
    }))
    const run = sent({ ...base, terms }, armedFacts({ creates: signed }))
    const otherKey: Hex = `0x${'0c'.repeat(32)}`
    look(run, [
      endpoint({
        latest: 8,
        final: 2,
        landedAt: 5,
        logs: [created(5), exit(6, exitKey), exit(5, otherKey)],
      }),
    ])
    expect(run.state?.attempts.at(-1)?.children.map(({ role, orderKey: key }) => [role, key])).toEqual([
      ['main', orderKey],
      ['stop-loss', exitKey],
      ['take-profit', otherKey],
    ])
  })

  test('of two reductions by parts that a relay bundled is the one of the sizes that were signed', () => {
    const base = intentOf()
    const terms = {
      ...base.terms,
      orderType: 'twap',
      sizeDeltaUsd: usd(300),
      twap: { parts: 2, durationSeconds: 60 },
    } as const
    const keys = ['0a', '0b', '0c', '0d'].map((byte): Hex => `0x${byte.repeat(32)}`)
    // The last part of each takes all that would be left: neither is of the sizes that were asked.
    const bundled = [200, 400, 150, 300].map((size, index) => {
      const key = keys[index] ?? '0x'
      return created(5, {
        orderKey: key,
        created: {
          orderKey: key,
          orderType: 5,
          marketToken: ethMarket,
          direction: 'long',
          sizeDeltaUsd: usd(size),
        },
      })
    })
    const landed = (sizes: readonly number[]) => {
      const creates = sizes.map((size) => ({ sizeDeltaUsd: usd(size), collateralAmount: 0n }))
      const run = sent({ ...base, kind: 'decrease', reservationUsd: 0n, terms }, armedFacts({ creates }))
      look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs: bundled })])
      return run.state?.attempts[0]?.children.map((child) => child.orderKey)
    }
    expect(landed([200, 400])).toEqual(keys.slice(0, 2))
    expect(landed([150, 300])).toEqual(keys.slice(2))
    // Signed at no such sizes, it is none of them.
    expect(landed([100, 100])).toEqual([])
  })

  test.each(['swap', 'collateral-in', 'collateral-out'] as const)(
    'of a %s, which no size tells from another, is the one of the amount that was asked',
    (kind) => {
      const base = intentOf()
      const size = kind === 'swap' ? usd(500) : 0n
      const run = sent({
        ...base,
        kind,
        reservationUsd: 0n,
        terms: { ...base.terms, sizeDeltaUsd: size, collateralDelta: 200_000_000n },
      })
      const orderType = { swap: 0, 'collateral-in': 2, 'collateral-out': 4 }[kind]
      const paid = (key: Hex, collateralAmount: bigint) =>
        created(5, {
          orderKey: key,
          created: {
            orderKey: key,
            orderType,
            marketToken: ethMarket,
            direction: 'long',
            sizeDeltaUsd: 0n,
            collateralAmount,
          },
        })
      const bundled = [paid(exitKey, 700_000_000n), paid(orderKey, 200_000_000n)]
      look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs: bundled })])
      expect(run.state?.attempts[0]?.children.map((child) => child.orderKey)).toEqual([orderKey])
    },
  )

  test.each([
    [199_999_999n, []],
    [200_000_000n, [orderKey]],
    [200_000_001n, [orderKey]],
  ] as const)(
    'of collateral paid in, an order of %d base units where 200000000 were asked',
    (amount, keys) => {
      const base = intentOf()
      const run = sent({
        ...base,
        kind: 'collateral-in',
        reservationUsd: 0n,
        terms: { ...base.terms, sizeDeltaUsd: 0n, collateralDelta: 200_000_000n },
      })
      const log = created(5, {
        orderKey,
        created: {
          orderKey,
          orderType: 2,
          marketToken: ethMarket,
          direction: 'long',
          sizeDeltaUsd: 0n,
          collateralAmount: amount,
        },
      })
      look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs: [log] })])
      expect(run.state?.attempts[0]?.children.map((child) => child.orderKey)).toEqual(keys)
    },
  )

  test('keeps the order of its message: a stop of another message before it is not taken for its own', () => {
    const base = intentOf()
    const exit = { type: 'stop-loss', triggerPrice: usd(1600), sizeDeltaUsd: usd(500) } as const
    const run = sent({ ...base, terms: { ...base.terms, tpsl: [exit] } })
    const stop = (key: Hex, size: number) =>
      created(5, {
        orderKey: key,
        created: {
          orderKey: key,
          orderType: 6,
          marketToken: ethMarket,
          direction: 'long',
          sizeDeltaUsd: usd(size),
        },
      })
    const foreign: Hex = `0x${'0c'.repeat(32)}`
    const bundled = [stop(foreign, 700), created(5), stop(exitKey, 500)]
    look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs: bundled })])
    expect(run.state?.attempts[0]?.children.map((child) => child.orderKey)).toEqual([orderKey, exitKey])
  })

  test('whose end was seen is not frozen again by an endpoint that lags', () => {
    const run = sent()
    const frozen: OrderLog = { ...executed(6), event: 'OrderFrozen', reason: 'too far' }
    look(run, [endpoint({ latest: 8, final: 2, landedAt: 5, logs: [created(5), frozen, executed(7)] })])
    expect(kinds(run)).toEqual(['landed', 'child.executed'])
    look(run, [endpoint({ latest: 6, final: 2, landedAt: 5, logs: [created(5), frozen] })])
    expect(kinds(run)).toEqual(['landed', 'child.executed'])
  })

  test('whose keeper moved in a block that was reorganised is open again', () => {
    const run = sent()
    look(run, [endpoint({ latest: 8, final: 6, landedAt: 5, logs })])
    look(run, [endpoint({ latest: 9, final: 6, landedAt: 5, logs: [created(5)] })])
    expect(kinds(run)).toEqual(['landed', 'child.executed', 'child.reopened'])
    expect(label(run)).toBe('pending')
  })
})

describe('a death', () => {
  test('needs a final block strictly later than the deadline with the digest unused', () => {
    const run = sent()
    look(run, [endpoint({ latest: 400, final: 300 })])
    expect(blockOf(300).timestampSeconds).toBe(deadlineSeconds)
    expect(kinds(run)).toEqual([])
    look(run, [endpoint({ latest: 400, final: 301 })])
    expect(kinds(run)).toEqual(['attempt.dead', 'intent.closed'])
    expect(run.state?.closing?.evidence).toMatchObject({ level: 'chain-final', block: blockOf(301) })
    expect(label(run)).toBe('expired')
  })

  test('needs every configured endpoint', () => {
    const run = sent()
    look(run, [endpoint({ latest: 400, final: 301 })], 2)
    look(run, [
      endpoint({ latest: 400, final: 301 }),
      endpoint({ endpoint: 'rpc-2', latest: 310, final: 300 }),
    ])
    expect(kinds(run)).toEqual([])
  })

  test('is not concluded from hosts and lists where endpoints are configured', () => {
    const run = sent()
    feed(run, {
      type: 'observed',
      nowMs: startMs + 10 ** 9,
      observation: {
        atMs: startMs,
        answer: {
          kind: 'status',
          host: 'h',
          status: 'relay_failed',
          orderKeys: [],
          serverDateMs: startMs + 10 ** 9,
        },
        account: { complete: true, orders: [], positions: [], trades: [] },
        explained: new Set(),
      },
    })
    expect([kinds(run), label(run)]).toEqual([[], 'unknown'])
  })

  test.each([
    ['relay_reverted', 'reverted'],
    ['relay_failed', 'failed'],
    ['relay_pending', 'expired'],
  ])('is shown with what the relay said last: %s reads as %s', (status, shown) => {
    const run = sent()
    feed(run, {
      type: 'observed',
      nowMs: startMs,
      observation: {
        atMs: startMs,
        answer: { kind: 'status', host: 'h', status, orderKeys: [] },
        chain: { configured: 1, endpoints: [endpoint({ latest: 400, final: 301 })] },
        explained: new Set(),
      },
    })
    expect([kinds(run), label(run)]).toEqual([['attempt.dead', 'intent.closed'], shown])
  })
})

test('figures of an execution that two endpoints show differently are nobody’s, and close nothing', () => {
  const lying = [
    created(5),
    { ...executed(7), settlement: { executionPrice: usd(1800), sizeDeltaUsd: usd(1) } },
  ]
  const views = (ofTwo: readonly OrderLog[]) => [
    endpoint({ latest: 12, final: 9, landedAt: 5, logs }),
    endpoint({ latest: 12, final: 9, landedAt: 5, logs: ofTwo, endpoint: 'rpc-2' }),
  ]
  for (const shown of [views(lying), views(lying).toReversed()]) {
    const run = sent()
    look(run, shown)
    look(run, shown)
    expect(kinds(run)).toEqual(['landed', 'child.executed'])
    expect(run.state?.attempts[0]?.children[0]?.settlement).toEqual({})
    expect(label(run)).toBe('pending')
    look(run, views(logs))
    expect(kinds(run).slice(2)).toEqual(['child.executed', 'intent.closed'])
    expect(run.state?.closing?.settlement).toMatchObject({ executionPrice: usd(1800) })
  }
})

test('another word about what came back of its fee keeps no execution open, and counts only where all endpoints say the same', () => {
  const back = (executionFeeReturnedUsd: bigint | undefined): readonly OrderLog[] => {
    const returned = executionFeeReturnedUsd === undefined ? {} : { executionFeeReturnedUsd }
    return [created(5), { ...executed(7), settlement: { executionPrice: usd(1800), ...returned } }]
  }
  for (const [one, other, counted] of [
    [70n, 70n, 70n],
    [70n, undefined, undefined],
    [undefined, 70n, undefined],
    [70n, 71n, undefined],
  ] as const) {
    const run = sent()
    look(run, [
      endpoint({ latest: 12, final: 9, landedAt: 5, logs: back(one) }),
      endpoint({ latest: 12, final: 9, landedAt: 5, logs: back(other), endpoint: 'rpc-2' }),
    ])
    expect(kinds(run)).toEqual(['landed', 'child.executed', 'intent.closed'])
    expect(run.state?.closing?.settlement?.executionPrice).toBe(usd(1800))
    expect(run.state?.attempts[0]?.children[0]?.settlement?.executionFeeReturnedUsd).toBe(counted)
  }
})

test('another time of the same block keeps no execution open', () => {
  const run = sent()
  const at = (timestampSeconds: number): readonly OrderLog[] => [
    created(5),
    { ...executed(7), settlement: { executionPrice: usd(1800), timestampSeconds } },
  ]
  look(run, [
    endpoint({ latest: 12, final: 9, landedAt: 5, logs: at(1) }),
    endpoint({ latest: 12, final: 9, landedAt: 5, logs: at(7_201), endpoint: 'rpc-2' }),
  ])
  expect(kinds(run)).toEqual(['landed', 'child.executed', 'intent.closed'])
})

test('a digest used up by a third party ends as failed when that is final everywhere, and not before', () => {
  const run = sent()
  const used = { landedAt: 5, signature: false, logs: [] }
  look(run, [endpoint({ latest: 9, final: 4, ...used })])
  look(run, [endpoint({ latest: 9, final: 6, ...used })], 2)
  expect(kinds(run)).toEqual([])
  look(run, [endpoint({ latest: 9, final: 6, ...used })])
  expect(kinds(run)).toEqual(['attempt.void', 'intent.closed'])
  expect(label(run)).toBe('failed')
})

test('an increase with exits rests until they end, but reserves nothing once its own order is final', () => {
  const base = intentOf()
  const tpsl = [{ type: 'take-profit', triggerPrice: usd(2000), sizeDeltaUsd: usd(500) }] as const
  const run = sent({ ...base, terms: { ...base.terms, tpsl } })
  const exit = created(5, {
    orderKey: exitKey,
    created: { orderKey: exitKey, orderType: 5, marketToken: ethMarket, direction: 'long' },
  })
  look(run, [endpoint({ latest: 20, final: 15, landedAt: 5, logs: [created(5), exit, executed(7)] })])
  expect(run.state?.attempts[0]?.children.map(({ role, phase }) => [role, phase])).toEqual([
    ['main', 'EXECUTED'],
    ['take-profit', 'OPEN'],
  ])
  expect([label(run), held(run)]).toEqual(['resting', 0n])
})

test('a twap gives back the share of its final parts', () => {
  const base = intentOf()
  const run = sent({
    ...base,
    terms: { ...base.terms, orderType: 'twap', twap: { parts: 2, durationSeconds: 60 } },
  })
  const part = (key: Hex) =>
    created(5, {
      orderKey: key,
      created: {
        orderKey: key,
        orderType: 3,
        marketToken: ethMarket,
        direction: 'long',
        sizeDeltaUsd: usd(250),
      },
    })
  const parts = [part(orderKey), part(exitKey)]
  look(run, [endpoint({ latest: 20, final: 15, landedAt: 5, logs: [...parts, executed(7)] })])
  expect([label(run), held(run)]).toEqual(['resting', usd(250)])
  look(run, [
    endpoint({
      latest: 90,
      final: 85,
      landedAt: 5,
      logs: [...parts, executed(7), executed(70, 'a', exitKey)],
    }),
  ])
  expect(run.state?.closing?.reason).toBe('2 of 2 orders executed')
})

test('a cancel is done when its order’s own event is final in the transaction that used the digest', () => {
  const base = intentOf()
  const run = sent({
    ...base,
    kind: 'cancel',
    reservationUsd: 0n,
    terms: { ...base.terms, cancelOrderKeys: [orderKey] },
  })
  look(run, [endpoint({ latest: 20, final: 15, landedAt: 5, logs: [] })])
  expect(kinds(run)).toEqual([])
  const cancelled = created(5, { event: 'OrderCancelled' })
  look(run, [endpoint({ latest: 20, final: 15, landedAt: 5, logs: [cancelled] })])
  expect(kinds(run)).toEqual(['landed', 'intent.closed'])
})

test('whatever the endpoints show, an intent closes only as the final chain has it', () => {
  const shown = fc.record({
    latest: fc.integer({ min: 0, max: 400 }),
    lag: fc.integer({ min: 0, max: 60 }),
    isForked: fc.boolean(),
    isSilent: fc.boolean(),
  })
  const world = fc.record({
    landedAt: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
    executedAfter: fc.integer({ min: 1, max: 20 }),
    looks: fc.array(fc.tuple(shown, shown), { maxLength: 12 }),
  })
  fc.assert(
    fc.property(world, ({ landedAt, executedAfter, looks }) => {
      const run = sent()
      const truth = landedAt === undefined ? [] : [created(landedAt), executed(landedAt + executedAfter)]
      for (const pair of looks) {
        const views = pair.flatMap(({ latest, lag, isForked, isSilent }, index) => {
          if (isSilent) return []
          const final = Math.max(0, latest - lag)
          const name = { endpoint: `rpc-${index}`, latest, final }
          // A fork shares what is final and differs in what is not: there the order never landed after `final`.
          const isLost = isForked && landedAt !== undefined && landedAt > final
          if (landedAt === undefined || isLost) return [endpoint(name)]
          const seen = isForked ? truth.filter(({ block }) => block.number <= BigInt(final)) : truth
          return [endpoint({ ...name, landedAt, logs: seen })]
        })
        look(run, views, 2)
        expect(
          held(run) === usd(500) || run.state?.closing !== undefined || run.records.some(isFinalEnd),
        ).toBe(true)
      }
      const outcome = run.state?.closing?.outcome
      if (landedAt === undefined) expect([undefined, 'DEAD']).toContain(outcome)
      else expect([undefined, 'EXECUTED']).toContain(outcome)
      // With both endpoints whole, past everything, it always closes.
      const whole = { latest: 900, final: 800, logs: truth, ...(landedAt === undefined ? {} : { landedAt }) }
      look(run, [endpoint(whole), endpoint({ ...whole, endpoint: 'rpc-2' })])
      expect(run.state?.closing?.outcome).toBe(landedAt === undefined ? 'DEAD' : 'EXECUTED')
      expect(held(run)).toBe(0n)
    }),
    { numRuns: 2000, seed: 5 },
  )
})

function isFinalEnd(record: JournalRecord): boolean {
  return record.kind === 'child.executed' && record.evidence.level === 'chain-final'
}
