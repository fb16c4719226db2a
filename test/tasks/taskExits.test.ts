/** The exits that a task wants for its position, beside what rests of them. */
import { expect, test } from 'vitest'
import type { ExecutorParams } from '../../src/domain/taskStates/executorState.ts'
import type { Order } from '../../src/protocol/position.ts'
import { contractPriceOf, usd } from '../../src/protocol/units.ts'
import type { ExecutorUse } from '../../src/tasks/executorView.ts'
import { type ExitView, nextExit } from '../../src/tasks/taskExits.ts'
import { MARKET, marketView, NOW_MS, oraclePrice, order, position, snapshot, USDC } from '../risk/world.ts'

const side = { marketToken: MARKET, direction: 'long', collateralToken: USDC } as const
const keyOf = (index: number): `0x${string}` => `0x${(index + 1).toString(16).padStart(64, '0')}`

/** A stop of the task at $1,900, and the order of its task. */
const stop = (index: number, sizeUsd: number, isFrozen = false) => ({
  row: order({
    ...{ orderKey: keyOf(index), orderType: 6, sizeDeltaUsd: usd(sizeUsd), isFrozen },
    triggerContractPrice: contractPriceOf(usd(1_900), 18),
  }),
  child: { orderKey: keyOf(index), isExit: true, child: { role: 'stop-loss' } },
})

function step(
  stops: readonly ReturnType<typeof stop>[],
  listed: readonly Order[] = stops.map(({ row }) => row),
) {
  const view = marketView({ oraclePrice: { value: oraclePrice(), atMs: NOW_MS } })
  const own = { ownUsd: usd(1_000), othersUsd: 0n }
  const use = { doneUsd: usd(1_000), exitedUsd: 0n, resting: stops.map(({ child }) => child) }
  const looked: ExitView = {
    ...{ nowMs: NOW_MS, booked: () => own },
    snapshot: snapshot({ view, positions: [position({ sizeInUsd: usd(1_000) })], orders: listed }),
  }
  return nextExit(
    side as unknown as ExecutorParams,
    { stopLoss: usd(1_900) },
    use as unknown as ExecutorUse,
    undefined,
    looked,
    'bracket:one',
  )
}

test('a stop of a task that froze is retried, and one that is well is left alone', () => {
  expect(step([stop(0, 1_000, true)])).toMatchObject({
    decision: { kind: 'edit', orderKey: keyOf(0), sizeDeltaUsd: usd(1_000) },
  })
  expect(step([stop(0, 1_000)])).toEqual({ kind: 'kept' })
})

test('a stop of a task follows its size, and a second one is cancelled', () => {
  expect(step([stop(0, 600)])).toMatchObject({ decision: { kind: 'edit', sizeDeltaUsd: usd(1_000) } })
  expect(step([stop(0, 1_000), stop(1, 1_000)])).toMatchObject({
    decision: { kind: 'cancel', orderKeys: [keyOf(1)] },
  })
})

test('a stop that no list shows yet is neither changed nor placed again', () => {
  expect(step([stop(0, 600)], [])).toEqual({ kind: 'kept' })
  expect(step([])).toMatchObject({ decision: { kind: 'decrease', orderType: 'stop-loss' } })
})
