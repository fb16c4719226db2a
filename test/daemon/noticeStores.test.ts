/** Open notices in the journal, over restarts, and the ends that they bring to sinks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { approvalStore, noticeStore } from '../../src/daemon/notices/noticeStores.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openJournal } from '../../src/journal/service/open.ts'
import type { Notice } from '../../src/monitor/events/notice.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import type { OpenStory } from '../../src/monitor/incidents/openStories.ts'
import { createNotifier } from '../../src/notify/notifier.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'
import { account, ethMarket } from '../support/intents.ts'

let folder: string
let journal: Journal
const open = () =>
  openJournal(`sqlite:${join(folder, 'journal.db')}`, { clockNow: () => 1_800_000_000_000, holder: 'test' })
const reopen = async () => {
  await journal.close()
  journal = await open()
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-notices-'))
  journal = await open()
})
afterEach(async () => {
  await journal.close()
  rmSync(folder, { recursive: true })
})

const bare: Notice = {
  ...{ kind: 'position-without-stop', level: 'warn', cause: 'stop:long ETH', text: 'no stop for long ETH' },
}
const stopped: Notice = { ...bare, level: 'info', isEnd: true, text: 'long ETH has stops' }
const down: Notice = { kind: 'hosts-down', level: 'error', cause: 'hosts', text: 'all down, key hush-hush' }
const halt: Notice = { kind: 'trading-state', level: 'error', cause: 'trading:all', text: 'halted' }
const ready: Event = { type: 'daemon.ready' }
const TEN_MINUTES_MS = 600_000

/** One run of a notifier over the journal, with a sink of a level; gives the first lines that it was sent. */
async function run(level: string, steps: readonly (Notice | { readonly afterMs: number })[]) {
  const sent: string[] = []
  let nowMs = 0
  const settings = sinkSettings(() => true).parse({
    ...{ type: 'webhook', name: 'one', url: 'https://one.example', secretFile: '/x', level },
  })
  const redact = (text: string) => text.replaceAll('hush-hush', '***')
  const notifier = createNotifier({
    sinks: [{ settings, secrets: new Map([['secretFile', new Secret('s'.repeat(32))]] as const) }],
    post: async (_url, { body }) => {
      sent.push(JSON.parse(String(body)).text.split('\n')[0])
      return { status: 200, headers: new Headers(), text: async () => '' } as never
    },
    postMail: () => Promise.reject(new Error('nobody has a mailbox')),
    clock: { ...systemClock, monotonicMs: () => nowMs },
    emit: () => undefined,
    redact,
    incidents: createIncidents({ now: () => nowMs, redact, store: noticeStore(journal) }),
    maxWaiting: 10,
    timeoutMs: 1_000,
    profile: 'paper',
  })
  notifier.listen(ready)
  for (const step of steps) {
    if ('afterMs' in step) {
      nowMs += step.afterMs
      notifier.listen({ type: 'host.prices', host: 'h', ageMs: 0, isStale: false } as Event)
    } else notifier.tell(step)
  }
  await notifier.close(10_000)
  await reopen()
  return sent
}

const unseen = (text: string) =>
  `reported before the last start, and not seen since perpd started ten minutes ago: ${text}`

test('what ended while perpd was down has its end ten minutes after the next start, once, at every sink that took its beginning', async () => {
  expect(await run('warn', [bare])).toEqual([bare.text])
  expect(await run('warn', [{ afterMs: TEN_MINUTES_MS - 1 }])).toEqual([])
  expect(await run('warn', [{ afterMs: TEN_MINUTES_MS }, { afterMs: 1_000 }])).toEqual([unseen(bare.text)])
  expect(await run('warn', [{ afterMs: TEN_MINUTES_MS }])).toEqual([])

  await run('warn', [bare])
  expect(await run('error', [{ afterMs: TEN_MINUTES_MS }])).toEqual([])
})

test('what goes on is told anew and ends when it does; what ended before the stop has no second end', async () => {
  await run('warn', [bare])
  expect(await run('warn', [bare, { afterMs: 2 * TEN_MINUTES_MS }, stopped])).toEqual([
    bare.text,
    stopped.text,
  ])
  expect(await run('warn', [{ afterMs: TEN_MINUTES_MS }])).toEqual([])
})

test('while no host answers nothing of positions is said to be over', async () => {
  await run('warn', [bare])
  const up: Notice = { ...down, kind: 'hosts-up', level: 'info', isEnd: true, text: 'up' }
  expect(await run('warn', [down, { afterMs: 2 * TEN_MINUTES_MS }, up, { afterMs: 1 }])).toEqual([
    'all down, key ***',
    'up',
    unseen(bare.text),
  ])
})

test('hosts that were down before the last start are told as up, and no secret is in the journal', async () => {
  await run('error', [down, halt])
  expect(JSON.stringify(journal.account().noticed)).not.toContain('hush-hush')
  expect(await run('error', [{ afterMs: TEN_MINUTES_MS }])).toEqual([unseen('all down, key ***')])
})

const story: OpenStory = {
  ...{ kind: 'books-differ', cause: 'books:0x1:long', level: 'error', text: 'books differ' },
}
const low = { left: 2n ** 200n, expiresAtSeconds: 1_800_000_000, isGone: true }

test('open notices and those of an approval are read from the journal after a restart, the approval’s for its key alone', async () => {
  expect(noticeStore(journal).read()).toEqual([])
  expect(approvalStore(journal, account).read()).toEqual({ isUnread: false })
  noticeStore(journal).keep([story])
  approvalStore(journal, account).keep({ low, isUnread: true })
  await reopen()
  expect(noticeStore(journal).read()).toEqual([story])
  expect(approvalStore(journal, account).read()).toEqual({ low, isUnread: true })
  expect(approvalStore(journal, ethMarket).read()).toEqual({ isUnread: false })
  noticeStore(journal).keep([])
  approvalStore(journal, account).keep({ isUnread: false })
  await reopen()
  expect(noticeStore(journal).read()).toEqual([])
  expect(approvalStore(journal, account).read()).toEqual({ isUnread: false })
})

test('a notice of a kind that has no end any more is left out, and the others count', async () => {
  noticeStore(journal).keep([story, { ...story, kind: 'order-executed' }])
  await reopen()
  expect(noticeStore(journal).read()).toEqual([story])
})

test('a journal that is closed takes nothing, and nothing fails', async () => {
  await journal.close()
  noticeStore(journal).keep([story])
  await reopen()
  expect(noticeStore(journal).read()).toEqual([])
})
