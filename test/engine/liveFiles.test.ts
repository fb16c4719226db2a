/** Strategy files that are taken over while perpd runs, over the paper venue. */
import { expect, test } from 'vitest'
import { BaseError } from '../../src/base/errors.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { usd } from '../../src/protocol/units.ts'
import { StrategyFileError } from '../../src/strategy/files/problem.ts'
import { ann, bench, file, folder, reload, running } from '../support/strategyFolder.ts'
import { type TestTrader, testSigner, testTrader } from '../support/trader.ts'

const changesIn = ({ events }: Pick<TestTrader, 'events'>) =>
  events.flatMap((event) => (event.type === 'strategy.changed' ? [`${event.change} ${event.strategy}`] : []))
const sizesOf = (journal: Journal, name: string) =>
  journal.recentIntents({ strategy: name }).map(({ intent }) => intent.terms.sizeDeltaUsd)

test('a changed file holds from the next turn, is told old and new with its file, and is kept in the journal', async () => {
  const of = folder(file('one', 500, { cadenceMs: 86_400_000 }))
  const at = await running(of)
  expect(at.trader.status().strategies).toMatchObject([{ name: 'one', cadenceMs: 86_400_000 }])
  const next = { cadenceMs: 2_000, written: { cadenceSeconds: '2' } }
  of.put(file('one', 300, next))
  const answer = await at.ask(reload)
  expect(answer).toMatchObject({
    ok: true,
    statement: 'changed: one (size.usd 500 -> 300, cadenceSeconds not set -> 2)',
  })
  // A day's sleep does not keep it from its new cadence.
  await at.clock.advance(5_000)
  expect(at.trader.status().strategies[0]?.ticks).toBeGreaterThan(1)
  expect(at.events.filter(({ type }) => type === 'strategy.changed')).toEqual([
    expect.objectContaining({
      strategy: 'one',
      file: '/strategies/one.yaml',
      change: 'changed',
      by: 'ann',
      fields: [
        { field: 'size.usd', from: '500', to: '300' },
        { field: 'cadenceSeconds', to: '2' },
      ],
    }),
  ])
  expect(await at.ask(reload)).toMatchObject({ statement: 'the running strategies match the files' })
  at.trader.abort()
})

test('with anything wrong in one file nothing is taken over of any, and a dry run writes nothing', async () => {
  const of = folder(file('one', 500))
  const at = await running(of)
  await at.clock.advance(1_000)
  of.put(file('two', 100))
  of.problems.push(
    new StrategyFileError({
      file: '/strategies/bad.yaml',
      place: { line: 3, column: 7 },
      field: 'size.usd',
      what: 'is not valid',
      fix: 'change the value',
    }),
  )
  const refused = await at.ask(reload)
  expect(refused).toMatchObject({ ok: false, code: 'STRATEGIES_INVALID' })
  expect(!refused.ok && refused.reason).toContain('/strategies/bad.yaml:3:7: size.usd is not valid')
  expect(at.trader.status().strategies.map(({ name }) => name)).toEqual(['one'])
  of.problems.pop()
  const records = at.journal.summary().records
  const preview = await at.ask({ ...reload, isPreview: true } as OperatorCommand)
  expect(preview).toMatchObject({ ok: true, statement: 'new: two; nothing is changed' })
  expect(at.journal.summary().records).toBe(records)
  expect(changesIn(at)).toEqual([])
  at.trader.abort()
})

test('what cannot be read is a refusal and no end of the daemon', async () => {
  const of = folder(file('one', 500))
  const { read } = of.source
  let isThere = true
  const at = await running({
    ...of,
    source: {
      ...of.source,
      read: () => (isThere ? read() : Promise.reject(new BaseError('The disk is gone.', { code: 'EIO' }))),
    },
  })
  isThere = false
  expect(await at.ask(reload)).toMatchObject({ ok: false, code: 'STRATEGIES_INVALID' })
  at.trader.abort()
})

test('a new file runs, a disabled one runs no more, and a field that needs a restart lets its whole file wait', async () => {
  const of = folder(file('one', 500), file('two', 400), file('three', 300))
  const at = await running(of)
  of.disabled.push('one')
  of.put(file('two', 50, { written: { market: '"BTC/USD [WBTC-USDC]"' } }))
  of.put(file('four', 200))
  expect(await at.ask(reload)).toMatchObject({
    ok: true,
    statement:
      'new: four; disabled: one; waiting for a restart: two (size.usd 400 -> 50, market not set -> "BTC/USD [WBTC-USDC]")',
    strategies: [
      { strategy: 'four', change: 'added' },
      { strategy: 'two', change: 'waiting' },
      { strategy: 'one', change: 'disabled' },
    ],
  })
  await at.clock.advance(20_000)
  const running_ = at.trader.status().strategies
  expect(running_.map(({ name }) => name)).toEqual(['two', 'three', 'four'])
  expect(sizesOf(at.journal, 'four')).toEqual([usd(200)])
  expect(sizesOf(at.journal, 'two')).toEqual([usd(400)])
  expect(changesIn(at)).toEqual(['disabled one', 'added four'])
  at.trader.abort()
})

test('limits of a file are tightened at once and loosened only when that is confirmed', async () => {
  const tight = { limits: { maxOrderSizeUsd: usd(50) }, written: { 'limits.maxOrderSizeUsd': '50' } }
  const of = folder(file('one', 500, { limits: { maxOrderSizeUsd: usd(100) } }))
  const at = await running(of)
  of.put(file('one', 500, tight))
  expect(await at.ask(reload)).toMatchObject({ ok: true, waiting: [] })
  of.put(file('one', 500))
  expect(await at.ask(reload)).toMatchObject({
    ok: true,
    statement: expect.stringContaining('perpd strategies reload --confirm: strategy one maxOrderSizeUsd'),
    waiting: [{ scope: 'strategy one', limit: 'maxOrderSizeUsd' }],
  })
  expect(await at.ask({ type: 'reload', isConfirmed: true })).toMatchObject({ ok: true, waiting: [] })
  expect(await at.ask(reload)).toMatchObject({ statement: 'the running strategies match the files' })
  at.trader.abort()
})

test('before perpd runs nothing is taken over', async () => {
  const of = folder(file('one', 500))
  const { trader } = testTrader({ ...bench(), strategies: [], strategyFiles: of.source })
  expect(await trader.operate(reload, ann)).toMatchObject({ ok: false, code: 'NOT_READY' })
  trader.abort()
})

test('a paused strategy is not asked, over a restart, until an operator lets it go on', async () => {
  const of = folder(file('one', 500))
  const journal = createMemoryJournal()
  const venue = bench()
  const pause: OperatorCommand = { type: 'switch', strategy: 'one', to: 'paused', reason: 'I look at it' }
  const first = testTrader({
    ...venue,
    journal,
    strategies: [...of.files.values()],
    strategyFiles: of.source,
  })
  await first.trader.start()
  expect(await first.trader.operate({ ...pause, strategy: 'other' }, ann)).toMatchObject({
    code: 'STRATEGY_UNKNOWN',
  })
  // Its first turn has its decision; what it would do afterwards it does not do.
  expect(await first.trader.operate(pause, ann)).toMatchObject({ ok: true })
  first.trader.abort()
  await venue.clock.advance(1_000)
  const before = sizesOf(journal, 'one').length

  const at = await running(of, journal, venue)
  await at.clock.advance(5_000)
  expect(sizesOf(journal, 'one')).toHaveLength(before)
  expect(at.trader.status().strategies[0]).toMatchObject({
    ticks: 0,
    pausedBy: { by: 'ann', reason: 'I look at it' },
  })
  expect(await at.ask({ ...pause, to: 'running' })).toMatchObject({ ok: true })
  await at.clock.advance(3_000)
  expect(at.trader.status().strategies[0]?.ticks).toBeGreaterThan(0)
  expect(at.trader.status().strategies[0]).not.toHaveProperty('pausedBy')
  at.trader.abort()
})

test('a strategy that was removed with onRemove: reduce is over once its part of the position is, and its exits go with it', async () => {
  const of = folder(file('leaving', 500, { onRemove: 'reduce', params: { rests: false, stop: true } }))
  const at = await running(of)
  const held = () =>
    at.journal
      .books()
      .all()
      .map(({ strategy, sizeUsd }) => [strategy, sizeUsd])
  for (let turn = 0; turn < 40 && held().length === 0; turn += 1) await at.clock.advance(500)
  of.files.delete('leaving')
  of.put(file('other', 100, { params: { rests: false, stop: false }, cadenceMs: 86_400_000 }))
  expect(await at.ask(reload)).toMatchObject({
    ok: true,
    statement: 'new: other; removed: leaving (its exits close its position)',
  })
  await at.clock.advance(10_000)
  expect(at.trader.status()).toMatchObject({ windDowns: [{ strategy: 'leaving', close: false, by: 'ann' }] })
  const close = { market: 'ETH/USD [WETH-USDC]', direction: 'long', shareBps: 10_000 } as const
  expect(await at.ask({ type: 'close', id: 'by-hand', ...close })).toMatchObject({ ok: true })
  for (let turn = 0; turn < 60 && at.trader.status().windDowns.length > 0; turn += 1)
    await at.clock.advance(1_000)
  expect(at.trader.status().windDowns).toEqual([])
  const orders = await at.api.getOrders({ account: testSigner.address })
  expect(orders.value).toEqual([])
  expect(at.events.filter(({ type }) => type === 'windDown.ended')).toEqual([
    { type: 'windDown.ended', strategy: 'leaving', statement: 'its last order and its part have ended' },
  ])
  at.trader.abort()
})

test('a file that is there again ends its own winding down, and runs', async () => {
  const leaving = file('leaving', 500, { onRemove: 'reduce', params: { rests: false, stop: true } })
  const of = folder(leaving, file('other', 100, { cadenceMs: 86_400_000 }))
  const at = await running(of)
  await at.clock.advance(10_000)
  of.files.delete('leaving')
  await at.ask(reload)
  expect(at.trader.status().windDowns).toHaveLength(1)
  of.put(leaving)
  expect(await at.ask(reload)).toMatchObject({ ok: true, statement: 'new: leaving' })
  expect(at.trader.status()).toMatchObject({ windDowns: [] })
  expect(at.trader.status().strategies.map(({ name }) => name)).toContain('leaving')
  at.trader.abort()
})

test('a file that switched its strategy off while perpd was down leaves what it holds as it is, when it goes later too', async () => {
  const journal = createMemoryJournal()
  const venue = bench()
  const of = folder(file('one', 500, { onRemove: 'close' }), file('two', 500))
  const first = await running(of, journal, venue)
  first.trader.abort()
  await venue.clock.advance(1_000)

  const changes = () =>
    journal.account().strategies?.get('one')?.ends === undefined ? 'ended' : 'to be closed when it goes'
  expect(changes()).toBe('to be closed when it goes')
  of.disabled.push('one')
  const at = await running(of, journal, venue)
  expect(changes()).toBe('ended')
  expect(at.events).toContainEqual(
    expect.objectContaining({
      type: 'strategy.changed',
      strategy: 'one',
      change: 'disabled',
      by: 'the start',
    }),
  )
  of.disabled.length = 0
  of.files.delete('one')
  expect(await at.ask(reload)).toMatchObject({ ok: true })
  expect(at.trader.status().windDowns).toEqual([])
  at.trader.abort()
})

test('a file that goes while it cannot be read at a start ends as it said at the next reload', async () => {
  const journal = createMemoryJournal()
  const venue = bench()
  const of = folder(file('one', 500, { onRemove: 'close' }), file('two', 500))
  const first = await running(of, journal, venue)
  first.trader.abort()
  await venue.clock.advance(1_000)

  // Its folder is not there at the start, which says nothing of the file.
  const one = of.files.get('one')
  of.files.delete('one')
  let isThere = false
  const source = { ...of.source, isGone: (path: string) => isThere && path === one?.path }
  const at = await running({ ...of, source }, journal, venue)
  expect(at.trader.status().windDowns).toEqual([])
  isThere = true
  expect(await at.ask(reload)).toMatchObject({ ok: true })
  expect(at.events).toContainEqual(
    expect.objectContaining({ type: 'strategy.changed', strategy: 'one', change: 'removed', by: 'ann' }),
  )
  at.trader.abort()
})

test('what a file says otherwise than before is told at the start, field by field, once', async () => {
  const journal = createMemoryJournal()
  const venue = bench()
  const first = await running(folder(file('one', 500, { written: { 'size.leverage': '2' } })), journal, venue)
  expect(changesIn(first)).toEqual([])
  await first.trader.stop('a restart')
  const written = { 'size.leverage': '5', 'limits.maxOrdersPerHour': '3' }
  const second = await running(folder(file('one', 500, { written })), journal, venue)
  expect(second.events.filter(({ type }) => type === 'strategy.changed')).toEqual([
    expect.objectContaining({
      strategy: 'one',
      change: 'changed',
      by: 'the start',
      // Limits have a line of their own.
      fields: [{ field: 'size.leverage', from: '2', to: '5' }],
    }),
  ])
  await second.trader.stop('a restart')
  const third = await running(folder(file('one', 500, { written })), journal, venue)
  expect(changesIn(third)).toEqual([])
  third.trader.abort()
})

test('a command writes no looser limit into a file unless that is confirmed, and a tighter one at once', async () => {
  const path = '/strategies/one.yaml'
  const limited = (dollars: number) =>
    file('one', 500, {
      limits: { maxOrderSizeUsd: usd(dollars) },
      written: { 'limits.maxOrderSizeUsd': String(dollars) },
    })
  const of = folder(limited(100))
  let text = 'limits:\n  maxOrderSizeUsd: 100\n'
  const at = await running({
    ...of,
    source: {
      ...of.source,
      read: async (texts) => ({
        strategies: [limited(Number(/Usd: (\d+)/.exec(texts?.get(path) ?? text)?.[1]))],
        disabled: [],
        problems: [],
      }),
      textOf: () => text,
      replace: (_, next) => {
        text = next
      },
    },
  })
  const set = (value: string, isConfirmed: boolean) =>
    at.ask({ type: 'set-field', strategy: 'one', field: 'limits.maxOrderSizeUsd', value, isConfirmed })
  expect(await set('5000', false)).toMatchObject({ ok: false, code: 'LIMIT_LOOSER' })
  expect(text).toContain('maxOrderSizeUsd: 100\n')
  expect(await set('50', false)).toMatchObject({ ok: true })
  expect(text).toContain('maxOrderSizeUsd: 50\n')
  expect(await set('5000', true)).toMatchObject({ ok: true, waiting: [] })
  expect(text).toContain('maxOrderSizeUsd: 5000\n')
  // What somebody wrote there by hand waits, and keeps no other change back.
  text = text.replace('5000', '9000')
  expect(await set('40', false)).toMatchObject({ ok: true })
  at.trader.abort()
})

test('an instance that its file switches off is switched on by a command, which the file says from then on', async () => {
  const of = folder(file('one', 500), file('two', 100))
  of.disabled.push('two')
  let text = 'enabled: false\nkind: opener\n'
  const path = '/strategies/two.yaml'
  const at = await running({
    ...of,
    source: {
      ...of.source,
      async read(texts) {
        const isOn = (texts?.get(path) ?? text).includes('enabled: true')
        const all = [...of.files.values()]
        return {
          strategies: all.filter(({ name }) => name === 'one' || isOn),
          disabled: isOn ? [] : ['two'],
          disabledFiles: new Map(isOn ? [] : [['two', path]]),
          problems: [],
        }
      },
      textOf: () => text,
      replace: (_, next) => {
        text = next
      },
    },
  })
  const set = { type: 'set-field', strategy: 'two', field: 'enabled', value: 'true', isConfirmed: false }
  expect(await at.ask(set as OperatorCommand)).toMatchObject({ ok: true, statement: 'new: two' })
  expect(text).toBe('enabled: true\nkind: opener\n')
  expect(at.trader.status().strategies.map(({ name }) => name)).toEqual(['one', 'two'])
  const none = { ...set, strategy: 'nobody' } as OperatorCommand
  expect(await at.ask(none)).toMatchObject({ ok: false, code: 'STRATEGY_NOT_RUNNING' })
  at.trader.abort()
})

test('a file that ships with perpd stays as it was: a change is written into its copy, and the next one into the same', async () => {
  const of = folder(file('one', 500))
  const path = '/strategies/one.yaml'
  const texts = new Map([[path, 'limits:\n  maxOrderSizeUsd: 100\n']])
  const at = await running({
    ...of,
    source: {
      ...of.source,
      textOf: (name) => texts.get(name) ?? '',
      replace: (name, next) => void texts.set(name, next),
      copies: {
        copyOf: (name) => (name === path ? '/own/one.yaml' : undefined),
        inPlaceOf: (name) => (name === path && texts.has('/own/one.yaml') ? '/own/one.yaml' : name),
      },
    },
  })
  const set = (value: string) =>
    at.ask({
      type: 'set-field',
      strategy: 'one',
      field: 'limits.maxOrderSizeUsd',
      value,
      isConfirmed: true,
    })
  const first = await set('50')
  expect(first).toMatchObject({ ok: true, statement: expect.stringContaining('/own/one.yaml') })
  expect(first).toMatchObject({ statement: expect.stringContaining(path) })
  const second = await set('40')
  expect(second.ok && second.statement.includes('/own/one.yaml')).toBe(false)
  expect(Object.fromEntries(texts)).toEqual({
    [path]: 'limits:\n  maxOrderSizeUsd: 100\n',
    '/own/one.yaml': 'limits:\n  maxOrderSizeUsd: 40\n',
  })
  at.trader.abort()
})
