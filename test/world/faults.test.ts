/** The real daemon on a real paper venue that misbehaves: a submit that is never answered, a payload mismatch, a warning. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  daemonFlags,
  ordersOf,
  perpd,
  type Running,
  scratch,
  standingsOf,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

let paper: Awaited<ReturnType<typeof startPaper>>
let folder: ReturnType<typeof scratch>

beforeEach(async () => {
  folder = scratch()
  writeOnceStrategy(folder.path)
  paper = await startPaper(['--paper.orderDeadlineSeconds=30', '--paper.keeperDelayMs=6000'])
})

afterEach(async () => {
  paper.child.kill('SIGTERM')
  await paper.ended
  folder.remove()
})

async function setFaults(faults: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await fetch(`${paper.control}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  })
  expect(answer.status).toBe(200)
}

async function submits(): Promise<readonly { readonly digest: string }[]> {
  const answer = await fetch(`${paper.control}/record`)
  return (await answer.json()) as readonly { readonly digest: string }[]
}

function events(daemon: Running): readonly Readonly<Record<string, unknown>>[] {
  return daemon
    .stdout()
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Record<string, unknown>]
      } catch {
        return []
      }
    })
}

async function stop(daemon: Running): Promise<void> {
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
}

test('a submit that is accepted and never answered is unknown, holds its slot, and closes by evidence', {
  timeout: 180_000,
}, async () => {
  // Nor does the host say how it fares, until the test has looked.
  await setFaults({ submit: 'accept-and-never-answer', status: 'unavailable' })
  const daemon = perpd(['run', ...daemonFlags(folder.path, paper.hosts), '--api.timeoutMs=500'])
  const seen = { seen: daemon.said, timeoutMs: 120_000 }
  await until(
    'the order is unknown',
    () => daemon.stdout().includes('"state_to":"unknown"') || undefined,
    seen,
  )
  const whileUnknown = await ordersOf(folder.path)
  expect(whileUnknown).toHaveLength(1)
  expect(whileUnknown[0]).toMatchObject({ status: 'unknown' })
  await setFaults({ submit: 'none', status: 'none' })
  // It holds its slot: the strategy's next decisions on this side are denied, and nothing more is sent.
  await until(
    'the order is executed',
    async () => (await standingsOf(folder.path)).includes('executed') || undefined,
    seen,
  )
  await stop(daemon)
  const rows = await ordersOf(folder.path)
  expect(rows).toHaveLength(1)
  expect(await submits()).toHaveLength(1)
  const explained = perpd([
    'explain',
    rows[0]?.intentId ?? '',
    `--journal.path=${folder.path}/journal.sqlite`,
  ])
  expect(await explained.ended).toBe(0)
  expect(explained.stdout().replace(/\s+/g, ' ')).toContain('not answered conclusively')
})

test('a payload that pays somebody else is refused before the key is used, and the host is rested', {
  timeout: 180_000,
}, async () => {
  await setFaults({ prepare: 'foreign-receiver' })
  const daemon = perpd(['run', ...daemonFlags(folder.path, paper.hosts)])
  const seen = { seen: daemon.said, timeoutMs: 120_000 }
  await until(
    'a payload is refused',
    () => daemon.stdout().includes('order.payload_rejected') || undefined,
    seen,
  )
  await until(
    'the intent is refused',
    async () => ((await ordersOf(folder.path))[0] ? true : undefined),
    seen,
  )
  await stop(daemon)
  const rows = await ordersOf(folder.path)
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['refused']))
  expect(rows.every(({ digest }) => digest === null)).toBe(true)
  expect(await submits()).toEqual([])
  const refused = events(daemon).find(({ event }) => event === 'order.payload_rejected')
  expect(JSON.stringify(refused)).toContain('addresses.receiver')
  expect(events(daemon).some(({ event }) => event === 'host.cooldown')).toBe(true)
})

test('a warned order does what the account says, unless its strategy is stricter, and is shown where it is looked for', {
  timeout: 180_000,
}, async () => {
  const once = readFileSync(join(folder.path, 'once.yaml'), 'utf8')
  const strict = join(folder.path, 'strict.yaml')
  writeFileSync(
    strict,
    `${once.replace('ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]')}\nwarnings: { HIGH_PRICE_IMPACT: shrink }\n`,
  )
  await setFaults({ prepareWarns: 'HIGH_PRICE_IMPACT' })
  const daemon = perpd([
    'run',
    ...daemonFlags(folder.path, paper.hosts),
    `--strategies.paths=${strict}`,
    '--signing.warnings=HIGH_PRICE_IMPACT=sign',
    '--risk.attemptsPerCause=1',
    '--execution.drainSeconds=0',
  ])
  const warned = () => events(daemon).filter(({ event }) => event === 'order.warned')
  const ended = () =>
    events(daemon).filter(({ event, state_to }) => event === 'order.moved' && state_to === 'refused')
  await until(
    'both are warned of and one is refused',
    () => (warned().length > 1 && ended().length > 0) || undefined,
    { seen: daemon.said, timeoutMs: 120_000 },
  )
  await stop(daemon)
  expect(
    warned()
      .map(({ strategy, action }) => [strategy, action])
      .sort(),
  ).toEqual([
    ['once', 'sign'],
    ['strict', 'drop'],
  ])
  const rows = await ordersOf(folder.path)
  expect(rows.find(({ strategy }) => strategy === 'once')).toMatchObject({
    warnings: ['HIGH_PRICE_IMPACT: sign'],
    digest: expect.stringMatching(/^0x/),
  })
  // It was read and sized anew, and there was room for all of it.
  expect(rows.find(({ strategy }) => strategy === 'strict')).toMatchObject({
    warnings: ['HIGH_PRICE_IMPACT: drop'],
    digest: null,
    reason: expect.stringContaining('our own reading shows capacity for all of $500'),
  })
})
