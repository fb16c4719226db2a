/** What people were told and goes on, over restarts: in its file, and in the ends that it brings to sinks. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { toldStories } from '../../src/daemon/notices/toldStories.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Notice } from '../../src/notify/notice.ts'
import { createNotifier } from '../../src/notify/notifier.ts'
import type { OpenStory } from '../../src/notify/openStories.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'

let folder: string
let path: string
let warnings: string[]
const store = () => toldStories(path, (text) => warnings.push(text))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-told-'))
  path = join(folder, 'journal.db.told')
  warnings = []
})
afterEach(() => rmSync(folder, { recursive: true }))

const bare: Notice = {
  ...{ kind: 'position-without-stop', level: 'warn', cause: 'stop:long ETH', text: 'no stop for long ETH' },
}
const stopped: Notice = { ...bare, level: 'info', isEnd: true, text: 'long ETH has stops' }
const down: Notice = { kind: 'hosts-down', level: 'error', cause: 'hosts', text: 'all down, key hush-hush' }
const halt: Notice = { kind: 'trading-state', level: 'error', cause: 'trading:all', text: 'halted' }
const ready: Event = { type: 'daemon.ready' }
const TEN_MINUTES_MS = 600_000

/** One run of a notifier over the file, with a sink of a level; gives the first lines that it was sent. */
async function run(level: string, steps: readonly (Notice | { readonly afterMs: number })[]) {
  const sent: string[] = []
  let nowMs = 0
  const settings = sinkSettings(() => true).parse({
    ...{ type: 'webhook', name: 'one', url: 'https://one.example', secretFile: '/x', level },
  })
  const notifier = createNotifier({
    sinks: [{ settings, secrets: new Map([['secretFile', new Secret('s'.repeat(32))]] as const) }],
    post: async (_url, { body }) => {
      sent.push(JSON.parse(String(body)).text.split('\n')[0])
      return { status: 200, headers: new Headers(), text: async () => '' } as never
    },
    postMail: () => Promise.reject(new Error('nobody has a mailbox')),
    clock: { ...systemClock, monotonicMs: () => nowMs },
    emit: () => undefined,
    redact: (text) => text.replaceAll('hush-hush', '***'),
    stories: store(),
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
  return sent
}

const unseen = (text: string) =>
  `told before the last start, and not seen in the ten minutes that perpd runs now: ${text}`

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

test('hosts that were down before the last start are told as up, and no secret is in the file', async () => {
  await run('error', [down, halt])
  expect(readFileSync(path, 'utf8')).not.toContain('hush-hush')
  expect(await run('error', [{ afterMs: TEN_MINUTES_MS }])).toEqual([unseen('all down, key ***')])
})

const story: OpenStory = {
  ...{ kind: 'books-differ', cause: 'books:0x1:long', level: 'error', text: 'books differ' },
}

test('the file is its owner’s alone, and nothing is left beside it', () => {
  expect(store().read()).toEqual([])
  store().keep([story])
  expect(store().read()).toEqual([story])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['journal.db.told'])
})

test('a file that is torn at any byte or of another form counts for nothing, with one warning', () => {
  store().keep([story])
  const whole = readFileSync(path, 'utf8').trimEnd()
  const torn = Array.from({ length: whole.length }, (_, bytes) => whole.slice(0, bytes))
  const other = whole.replace('books-differ', 'order-executed')
  for (const text of [...torn, '[]', whole.replace('"version":1', '"version":2'), other]) {
    warnings = []
    writeFileSync(path, text)
    const one = store()
    expect([one.read(), one.read()]).toEqual([[], []])
    expect(warnings).toHaveLength(1)
  }
})

test('a place where nothing can be written costs one warning', () => {
  writeFileSync(join(folder, 'a file'), '')
  path = join(folder, 'a file', 'journal.db.told')
  const one = store()
  one.keep([story])
  one.keep([])
  expect(warnings).toHaveLength(1)
})
