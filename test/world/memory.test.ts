/** A kind of the user's own with a memory, on the real process: killed in the middle again and again, and raised by hand. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filledOrders } from '../../src/domain/accountRecords/fills.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { folderEach } from './folderEach.ts'
import { perpd, type Running, until } from './processes.ts'

const folder = folderEach((path) => {
  mkdirSync(join(path, 'strategies'))
})

/** Opens rung after rung on both sides of a market in one turn, each a dollar more than the one before it, and counts what it is told. */
function writeClimber(version: number, extra = ''): void {
  writeFileSync(
    join(folder.path, 'strategies', 'climber.ts'),
    `import { collateralTokenOf, defineStrategy, usd, z } from '#strategy'
const schema = z.strictObject({ long: z.number(), short: z.number(), fills: z.number(), filledUsd: z.bigint(), closed: z.number() })
export default defineStrategy({
  kind: 'climber', description: 'Climbs.', params: z.strictObject({}),
  memory: { version: ${version}, schema, first: { long: 0, short: 0, fills: 0, filledUsd: 0n, closed: 0 }${extra} },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, memory: z.infer<typeof schema>) {
    const next = { ...memory }
    for (const event of view.events) {
      if (event.kind === 'denied') next[event.direction ?? 'long'] -= 1
      else if (event.kind === 'closed') next.closed += 1
      else {
        next.fills += event.kind === 'filled' ? 1 : -1
        next.filledUsd += event.kind === 'filled' ? event.sizeDeltaUsd ?? 0n : -(event.sizeDeltaUsd ?? 0n)
      }
    }
    const { size, symbols } = view.instance
    const market = view.market(symbols[0] ?? '')
    if (market === undefined || size === undefined) return { decisions: [], memory: next }
    const sides = (['long', 'short'] as const).filter(
      (direction) => next[direction] < 6 && view.openIntents.every((open) => open.direction !== direction),
    )
    const decisions = sides.map((direction) => ({
      kind: 'increase' as const, marketToken: market.market.marketToken, direction,
      sizeDeltaUsd: usd(50 + next[direction]), leverageBps: size.leverageBps,
      collateralToken: collateralTokenOf(market, size.collateral), reason: \`rung \${next[direction]}\`,
    }))
    for (const direction of sides) next[direction] += 1
    return { decisions, memory: next }
  },
})
`,
  )
  writeFileSync(
    join(folder.path, 'strategies', 'climber.yaml'),
    'kind: ./climber.ts\nmarket: "ETH/USD [WETH-USDC]"\ncadenceSeconds: 1\nsize: { usd: 50, leverage: 2 }\n',
  )
}

const journalPath = () => join(folder.path, 'journal.sqlite')

/** What was armed and not sent is proven dead soon. */
const flags = [
  '--control.port=0',
  '--log.format=json',
  '--paper.orderDeadlineSeconds=6',
  '--paper.keeperDelayMs=300',
  '--execution.deadlineMarginSeconds=1',
  '--signing.minDeadlineSeconds=2',
]

const start = (killAt?: string): Running =>
  perpd(['run', ...flags, `--journal.path=${journalPath()}`], {
    cwd: folder.path,
    ...(killAt === undefined ? {} : { killAt }),
  })

/** What the journal says of the climber. */
async function climber() {
  const journal = openSqliteReader(journalPath())
  try {
    const states = (await journal.intents())
      .filter(({ intent }) => intent.strategy === 'climber')
      .toReversed()
    const { memories } = await journal.account()
    return { states, memory: memories?.get('climber') }
  } finally {
    await journal.close()
  }
}

const linesOf = (daemon: Running, event: string) =>
  daemon
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line.event === event)

/** Around the commits that a turn, its orders and what is told of them make. */
const points = [
  'strategy.remembered:before',
  'strategy.remembered:after',
  'attempt.armed:after',
  'child.executed:before',
  'intent.closed:after',
  'strategy.remembered:before',
] as const

test('killed around the commits of its turns: no rung is skipped or taken twice, and every fill is told once', {
  timeout: 280_000,
}, async () => {
  writeClimber(1)
  for (const point of points) {
    const killed = start(point)
    expect(await killed.ended, `${point}\n${killed.said()}`).toBe('SIGKILL')
  }
  const daemon = start()
  await until(
    'all rungs are over, and told',
    async () => {
      const { states, memory } = await climber()
      const told = memory?.memory as { closed: number } | undefined
      return states.length === 12 && told?.closed === 12 ? true : undefined
    },
    { seen: daemon.said, timeoutMs: 180_000 },
  )
  daemon.child.kill('SIGTERM')
  await daemon.ended
  const { states, memory } = await climber()
  for (const direction of ['long', 'short']) {
    const rungs = states.filter(({ intent }) => intent.terms.direction === direction)
    expect(rungs.map(({ intent }) => intent.decision.reason)).toEqual(
      [0, 1, 2, 3, 4, 5].map((rung) => `rung ${rung}`),
    )
  }
  const fills = states.flatMap(filledOrders)
  expect(memory?.memory).toEqual({
    long: 6,
    short: 6,
    fills: fills.length,
    filledUsd: fills.reduce((sum, { sizeDeltaUsd = 0n }) => sum + sizeDeltaUsd, 0n),
    closed: 12,
  })
})

test('a memory of a version that cannot be raised pauses its instance alone, and `strategies forget` lets it begin anew', {
  timeout: 120_000,
}, async () => {
  writeClimber(1)
  const first = start()
  await until('it remembers', async () => (await climber().catch(() => undefined))?.memory, {
    seen: first.said,
    timeoutMs: 60_000,
  })
  first.child.kill('SIGKILL')
  await first.ended
  writeClimber(2)
  const daemon = start()
  const unfit = await until('it pauses', () => linesOf(daemon, 'strategy.unfit')[0], {
    seen: daemon.said,
    timeoutMs: 60_000,
  })
  expect(unfit).toMatchObject({
    level: 'error',
    message:
      'climber pauses: its memory has version 1, and the kind has version 2 without an upcast. Its position is unchanged. Correct its kind and load it (perpd strategies reload), or discard its memory: perpd strategies forget climber',
  })
  const { status_url: url } = linesOf(daemon, 'daemon.started')[0] as { status_url: string }
  const port = `--control.port=${new URL(url).port}`
  const ask = async (...args: readonly string[]) => {
    const asked = perpd([...args, port], { cwd: folder.path, env: { COLUMNS: '80' } })
    return { code: await asked.ended, out: asked.stdout(), said: asked.said() }
  }
  expect((await ask('strategies')).out).toContain('its memory has version 1')
  expect((await ask('strategies', 'forget', 'nobody', '--by', 'ann')).said).toContain('climber')
  const answer = await ask('strategies', 'forget', 'climber', '--by', 'ann')
  expect(answer.code, answer.said).toBe(0)
  await until('it remembers anew', async () => ((await climber()).memory?.version === 2 ? true : undefined), {
    seen: daemon.said,
    timeoutMs: 60_000,
  })
  daemon.child.kill('SIGTERM')
  await daemon.ended
})
