/** An approval that runs low and is renewed: the beginning is told, and its end once, whatever comes and goes in between. */
import { expect, test } from 'vitest'
import {
  createSubaccountWatch,
  type SubaccountWatchContext,
  type ToldApproval,
} from '../../src/account/subaccountWatch.ts'
import { BaseError } from '../../src/base/errors.ts'
import type { Event } from '../../src/domain/event.ts'
import { createCauseFilter } from '../../src/monitor/incidents/again.ts'
import { createSinkCauses } from '../../src/notify/sinkCauses.ts'
import { delegate, signer } from '../support/kinds.ts'
import { noticeOf } from '../support/noticeOf.ts'

const DAY_SECONDS = 86_400

/** A watch over a chain that the test writes; it warns from 20 actions on, beyond those needed, and a day before the end. */
function watched() {
  const chain = { isActive: true, actions: 100, days: 30 }
  const time = { nowMs: 0 }
  const file = { isWrong: false }
  let kept: ToldApproval = { isUnread: false }
  const told: Event[] = []
  const context = {
    account: signer.address,
    subaccount: delegate.address,
    api: {
      getSubaccountStatus: async () => ({
        value: {
          isActive: chain.isActive,
          approvalNonce: 1n,
          maxAllowedCount: BigInt(chain.actions),
          currentActionsCount: 0n,
          expiresAtSeconds: chain.days * DAY_SECONDS,
        },
      }),
    },
    clock: { now: () => time.nowMs, monotonicMs: () => time.nowMs },
    emit: (event: Event) => void (event.type === 'subaccount.read' || told.push(event)),
    readApproval: () => {
      if (file.isWrong) throw new BaseError('It is no JSON.', { code: 'APPROVAL_FILE_UNREADABLE' })
      return undefined
    },
    journal: { openIntents: () => [] },
    told: {
      read: () => kept,
      keep: (told: ToldApproval) => {
        kept = told
      },
    },
    settings: { warnActions: 20, warnSeconds: DAY_SECONDS, reserveActions: 5 },
  } as unknown as SubaccountWatchContext
  const start = () => createSubaccountWatch(context)
  let watch = start()
  return {
    chain,
    time,
    file,
    told,
    look: (needed = 0) => watch.check(needed),
    restart: () => {
      watch = start()
    },
    types: () => told.map(({ type }) => type),
  }
}

test('a renewal ends what ran low, by actions, by time and by a key that was gone, each once', async () => {
  const { chain, told, look, types } = watched()
  await look()
  expect(told).toEqual([])
  for (const lack of [{ actions: 20 }, { days: 1 }, { isActive: false }]) {
    told.length = 0
    Object.assign(chain, lack)
    await look()
    Object.assign(chain, { isActive: true, actions: chain.actions + 100, days: chain.days + 30 })
    await look()
    await look()
    expect(types()).toEqual(['subaccount.low', 'subaccount.renewed'])
  }
})

test('an approval that is low no more because less is needed to close was not renewed, and its renewal is told later', async () => {
  const { chain, told, look, types } = watched()
  chain.actions = 24
  await look(10)
  await look(2)
  await look(10)
  expect(types()).toEqual(['subaccount.low', 'subaccount.low'])
  told.length = 0
  await look(2)
  chain.actions = 200
  await look(2)
  expect(types()).toEqual(['subaccount.renewed'])
  // One that is low still is not over.
  told.length = 0
  chain.actions = 15
  await look()
  chain.actions = 18
  await look()
  expect(types()).toEqual(['subaccount.low'])
})

test('a file that cannot be used is told at each look, and once that it can again', async () => {
  const { file, look, types } = watched()
  await look()
  file.isWrong = true
  await look()
  await look()
  file.isWrong = false
  await look()
  await look()
  expect(types()).toEqual(['subaccount.unread', 'subaccount.unread', 'subaccount.fileRight'])
})

test('what ran low before a restart is told again at the first look, so that its renewal reaches who was told', async () => {
  const { chain, told, look, restart } = watched()
  chain.actions = 20
  await look()
  restart()
  told.length = 0
  await look()
  chain.actions = 100
  await look()
  const [repeats, taken] = [createCauseFilter(), createSinkCauses({ level: 'warn', events: {} })]
  const sent = told.flatMap((event, atMs) => {
    const notice = noticeOf(event)
    if (notice === undefined || repeats.take(notice, atMs) === undefined) return []
    return taken.take(notice) === undefined ? [] : [[notice.kind, notice.isEnd === true, notice.text]]
  })
  expect(sent).toEqual([
    ['key-approval', false, expect.stringContaining('ends soon')],
    [
      'key-approval',
      true,
      `the approval of the delegated key ${delegate.address} is renewed: 100 actions left (closing everything needs 0), until 1970-01-31T00:00:00.000Z`,
    ],
  ])
})

test('an approval that is renewed, or whose file is put right, while perpd is down is told so at the first look of the next run, once', async () => {
  const { chain, file, told, look, restart, types } = watched()
  chain.actions = 20
  await look()
  file.isWrong = true
  await look()
  file.isWrong = false
  restart()
  told.length = 0
  Object.assign(chain, { actions: 100 })
  await look()
  await look()
  expect(types()).toEqual(['subaccount.fileRight', 'subaccount.renewed'])
  restart()
  told.length = 0
  await look()
  expect(told).toEqual([])
})

test('an approval that is low no more after a restart because less is needed was not renewed', async () => {
  const { chain, told, look, restart, types } = watched()
  chain.actions = 24
  await look(10)
  restart()
  told.length = 0
  await look(2)
  expect(told).toEqual([])
  chain.actions = 200
  await look(2)
  expect(types()).toEqual(['subaccount.renewed'])
})
