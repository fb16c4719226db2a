/** What a kill and an unwind do next, by what they see: pure. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import type { Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { type KillView, killTask } from '../../src/tasks/killTask.ts'
import { taskRows } from '../../src/tasks/taskRows.ts'
import { type UnwindView, unwindTask } from '../../src/tasks/unwindTask.ts'
import { windDownTask } from '../../src/tasks/windDownTask.ts'
import { ethMarket, intentOf, startMs, usdc } from '../support/intents.ts'

const long = { marketToken: ethMarket, direction: 'long', collateralToken: usdc } as const
const position = (sizeUsd: bigint): Position => ({ ...long, sizeInUsd: sizeUsd }) as Position
const snapshotOf = (positions: readonly Position[]): Snapshot =>
  ({ orders: { value: [] }, positions: { value: positions }, markets: new Map() }) as unknown as Snapshot

const killView = (positions: readonly Position[], more: Partial<KillView> = {}): KillView => ({
  snapshot: snapshotOf(positions),
  open: [],
  journal: new Map(),
  elsewhere: () => [],
  hasNewFills: false,
  wasQuiet: false,
  proofLackedMs: 0,
  nowSeconds: 1_800_000_000,
  isMade: () => false,
  ...more,
})
const kill = { taskId: 'kill:5', by: 'ann', sinceMs: 0, params: { close: true }, state: { made: 3 } }

test('a kill asks to see, decides under keys of its own steps, and passes over a step that was taken', () => {
  const { snapshot: _, ...blind } = killView([])
  expect(killTask.next(kill, blind)).toEqual({ kind: 'read', symbols: [] })
  const short = { ...position(usd(7)), direction: 'short' } as Position
  const seen = killView([position(usd(5)), position(0n), short])
  const decided = killTask.next(kill, seen)
  expect(decided).toMatchObject({
    kind: 'go-on',
    state: { made: 3 },
    decisions: [
      { decisionKey: 'kill:5#4', decision: { kind: 'close', ...long }, state: { made: 4 } },
      { decisionKey: 'kill:5#5', decision: { kind: 'close', direction: 'short' }, state: { made: 5 } },
    ],
  })
  expect(killTask.next(kill, seen)).toEqual(decided)
  const taken = killTask.next(kill, { ...seen, isMade: (key) => key === 'kill:5#4' })
  expect(taken).toMatchObject({
    state: { made: 4 },
    decisions: [{ decisionKey: 'kill:5#5' }, { state: { made: 6 } }],
  })
})

test('a kill is done at the second look in a row that finds nothing, and not while a fill may be unseen', () => {
  expect(killTask.next(kill, killView([]))).toMatchObject({ kind: 'go-on', decisions: [] })
  expect(killTask.next(kill, killView([], { wasQuiet: true }))).toEqual({ kind: 'done', outcome: 'done' })
  const unseen = killView([], { wasQuiet: true, hasNewFills: true })
  expect(killTask.next(kill, unseen)).toMatchObject({ kind: 'go-on' })
})

test('a kill that lacks nothing but proof ends without it after half an hour, and not while a message may land, anything is shown, or nothing was sent that explains it', () => {
  const deadlineSeconds = killView([]).nowSeconds - 1
  const sent = (kind: 'close' | 'increase', armed: object = { deadlineSeconds }) =>
    ({
      intent: intentOf({ intentId: 'f00d', kind }),
      attempts: [{ n: 1, phase: 'UNRESOLVED', children: [], armed }],
    }) as unknown as IntentState
  const proofLackedMs = 1_800_000
  const next = (more: Partial<KillView>, positions: readonly Position[] = []) =>
    killTask.next(kill, killView(positions, { proofLackedMs, open: [sent('close')], ...more }))
  expect(next({})).toEqual({
    ...{ kind: 'done', outcome: 'unproven' },
    statement: expect.stringContaining('the end of 1 order is not proven'),
  })
  const { terms } = sent('close').intent
  const side = { marketToken: terms.marketToken, direction: terms.direction, collateralToken: usdc }
  const journal = new Map([['a side', { ...side, sizeUsd: usd(5) }]])
  expect(next({ journal })).toMatchObject({ outcome: 'unproven' })
  expect(next({ open: [sent('increase')] })).toMatchObject({ outcome: 'unproven' })
  expect(next({ proofLackedMs: 1_799_999 }).kind).toBe('go-on')
  expect(next({ open: [sent('close', { deadlineSeconds: deadlineSeconds + 1 })] }).kind).toBe('go-on')
  expect(next({ hasNewFills: true }).kind).toBe('go-on')
  expect(next({}, [{ ...side, sizeInUsd: usd(5) } as Position]).kind).toBe('go-on')
  // The journal holds it, and what was sent closes nothing.
  expect(next({ journal, open: [sent('increase')] }).kind).toBe('go-on')
})

test('a kill that leaves exits is done once their entry is final: until then a reorganisation may bring the entry back', () => {
  const leaves = { ...kill, params: { close: false } }
  const next = (landing: string, fill: string, kind: 'increase' | 'decrease' = 'increase') => {
    const child = (role: string, phase: string, level?: string) => ({
      ...{ index: 0, role, phase, orderKey: `0x${role}` },
      ...(level === undefined ? {} : { evidence: { level } }),
    })
    const attempt = {
      ...{ n: 1, phase: 'LANDED', evidence: { level: landing } },
      children: [child('main', 'EXECUTED', fill), child('stop-loss', 'OPEN')],
    }
    const state = {
      intent: intentOf({ intentId: 'f00d', kind }),
      attempts: [attempt],
    } as unknown as IntentState
    const { marketToken, direction, collateralToken } = state.intent.terms
    const side = { marketToken, direction, collateralToken: collateralToken.address, sizeInUsd: usd(5) }
    return killTask.next(leaves, killView([side as Position], { open: [state], wasQuiet: true })).kind
  }
  expect(next('chain-latest', 'chain-latest')).toBe('go-on')
  expect(next('chain-final', 'chain-latest')).toBe('go-on')
  expect(next('chain-final', 'chain-final')).toBe('done')
  // A message that only reduces adds nothing whenever it lands.
  expect(next('chain-latest', 'chain-latest', 'decrease')).toBe('done')
})

/** The order that is not wanted: over, with 500 dollars opened by an operator's word. */
const order = {
  intent: intentOf({ intentId: 'f00d' }),
  attempts: [],
  closing: {
    outcome: 'EXECUTED',
    code: 'EXECUTED',
    reason: 'it is',
    evidence: { level: 'operator', atMs: startMs, statement: 'said' },
  },
} as unknown as IntentState

test('an unwind closes what its order opened, by what is held, and tries again under the next key', () => {
  const task = { taskId: 'unwind:f00d', by: 'ann', sinceMs: 0, params: { intentId: 'f00d', reason: 'late' } }
  const begun = { ...task, state: unwindTask.begins }
  const { sizeDeltaUsd } = order.intent.terms
  const view: UnwindView = { order, made: () => undefined, knownUsd: () => 0n }
  const seen = (heldUsd: bigint, more: Partial<UnwindView> = {}): UnwindView => ({
    ...view,
    snapshot: snapshotOf(heldUsd === 0n ? [] : [position(heldUsd)]),
    isSeen: true,
    ...more,
  })
  expect(unwindTask.next(begun, view)).toEqual({ kind: 'read', symbols: [order.intent.terms.symbol] })
  expect(unwindTask.next(begun, seen(sizeDeltaUsd))).toMatchObject({
    decisions: [{ decisionKey: 'unwind:f00d', decision: { kind: 'close' }, state: { closes: [1] } }],
  })
  expect(unwindTask.next(begun, seen(2n * sizeDeltaUsd))).toMatchObject({
    decisions: [{ decision: { kind: 'decrease', sizeDeltaUsd, keepLeverage: true } }],
  })
  // Too new for the list, or hidden by it: nothing is decided.
  expect(unwindTask.next(begun, seen(0n, { isSeen: false }))).toMatchObject({ decisions: [] })
  expect(unwindTask.next(begun, seen(0n, { knownUsd: () => 1n }))).toMatchObject({
    decisions: [],
    problem: expect.stringContaining('no list shows the long'),
  })
  expect(unwindTask.next(begun, seen(0n))).toMatchObject({ kind: 'done', outcome: 'flat' })
  const ended = (outcome: string) => ({ ...order, closing: { ...order.closing, outcome } }) as IntentState
  const after = (outcome: string) =>
    seen(sizeDeltaUsd, { made: (key) => (key === 'unwind:f00d#2' ? ended(outcome) : undefined) })
  const second = { ...task, state: { ...unwindTask.begins, closes: [2] } }
  expect(unwindTask.next(second, after('CANCELLED'))).toMatchObject({
    decisions: [{ decisionKey: 'unwind:f00d#3', state: { closes: [3] } }],
  })
  expect(unwindTask.next(second, after('EXECUTED'))).toMatchObject({ kind: 'done', outcome: 'flat' })
  const spent = seen(sizeDeltaUsd, { made: () => ended('CANCELLED') })
  expect(unwindTask.next(begun, spent)).toMatchObject({ kind: 'done', outcome: 'given-up' })
})

test('a kind of task is one file: its name and version, parameters, state, next step and words stand in it, and nowhere else', () => {
  const source = resolve(import.meta.dirname, '../../src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(source, name), 'utf8')] as const)
  const places = [killTask, unwindTask, windDownTask, ...taskRows].map(({ name }) =>
    files.filter(([, text]) => text.includes(`name: '${name}',\n  version: `)).map(([path]) => path),
  )
  expect(places.map((found) => found.length)).toEqual(places.map(() => 1))
  expect(places.flat().map(dirname)).toEqual(places.map(() => 'tasks'))
  // What every kind has in common lies in the domain, and no kind's own state.
  expect(readdirSync(join(source, 'domain/taskStates')).sort()).toEqual([
    'executorState.ts',
    'ownTask.ts',
    'taskRecord.ts',
  ])
})
