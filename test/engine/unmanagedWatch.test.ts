/** The watch over positions that no running strategy made: when one is told, and when its end is. */
import { expect, test } from 'vitest'
import { createUnmanagedWatch } from '../../src/account/watch/unmanaged.ts'
import type { Event } from '../../src/domain/event.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { hexKey } from '../../src/protocol/address.ts'
import type { Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, orderKey, startMs, usdc } from '../support/intents.ts'
import { noticeOf } from '../support/noticeOf.ts'

/** An order of eth-trend that opened $500. */
const opened: IntentState = {
  intent: intentOf(),
  attempts: [
    {
      ...{ n: 1, lane: 'order-chain', host: 'h', phase: 'LANDED', armed: armedFacts() },
      children: [
        { index: 0, orderKey, phase: 'EXECUTED', role: 'main', settlement: { sizeDeltaUsd: usd(500) } },
      ],
    },
  ],
  updatedAtMs: startMs,
}

const side = { marketToken: ethMarket, direction: 'long', collateralToken: usdc } as const
const held = [{ ...side, sizeInUsd: usd(500) }] as unknown as readonly Position[]

/** A watch over instances of these names, and the notices of what it told since it was last asked. */
function watched(inMemory: readonly IntentState[] = [opened]) {
  const told: Event[] = []
  let running: readonly string[] = ['eth-trend']
  const watch = createUnmanagedWatch({
    journal: {
      recentIntents: ({ limit } = {}) => inMemory.slice(0, limit),
      intents: () => Promise.resolve([...inMemory, opened]),
    },
    strategies: () => running.map((name) => ({ name, symbols: [] })) as never,
    windingDown: () => [],
    emit: (event) => void told.push(event),
  })
  return async (names: readonly string[], positions: readonly Position[] = held) => {
    running = names
    await watch.check(positions, { [hexKey(ethMarket)]: 'ETH/USD [WETH-USDC]' })
    return told.splice(0).flatMap((event) => noticeOf(event) ?? [])
  }
}

test('a position whose strategy stops is told once, and its end when the strategy runs again', async () => {
  const look = watched()
  expect(await look(['eth-trend'])).toEqual([])
  const [begun, ...more] = await look(['guard'])
  expect([begun?.kind, begun?.level, begun?.isEnd, more]).toEqual([
    'position-unmanaged',
    'warn',
    undefined,
    [],
  ])
  expect(await look(['guard'])).toEqual([])
  expect(await look(['guard', 'eth-trend'])).toEqual([
    {
      kind: 'position-unmanaged',
      level: 'info',
      cause: begun?.cause,
      isEnd: true,
      text: 'long ETH/USD [WETH-USDC] is managed again, or closed',
    },
  ])
  expect(await look(['guard', 'eth-trend'])).toEqual([])
  expect((await look(['guard']))[0]?.action).toContain('perpd close')
})

test('a position without a manager that is closed is told as over', async () => {
  const look = watched()
  expect(await look([])).toHaveLength(1)
  expect(await look([], [])).toMatchObject([{ isEnd: true, level: 'info' }])
  expect(await look([], [])).toEqual([])
})

test('a maker beyond the intents in memory is found in the file of the journal', async () => {
  const later = Array.from({ length: 1_000 }, (): IntentState => ({ ...opened, attempts: [] }))
  const [told] = await watched(later)([])
  expect(told?.text).toContain('eth-trend opened it')
})
