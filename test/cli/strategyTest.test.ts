/** `perpd strategies test` as a process: shipped files, kinds of one's own with and without mistakes, files that are none. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { exampleOf } from '../../src/cli/strategies/shippedExamples.ts'
import { situations } from '../../src/cli/trial/situations.ts'
import { kindsThatSay } from '../../src/strategy/files/edgeWarning.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'
import { bareEnv } from '../support/bareEnv.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'
import { perpd } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-trial-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = resolve(import.meta.dirname, '../..')
const program = join(root, 'src/cli/main.ts')

function typed(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'strategies', 'test', ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: bareEnv({ COLUMNS: '140' }),
  })
  return { status, stdout, stderr }
}

interface Body {
  readonly turns: number
  readonly turnSeconds: number
  readonly situations: readonly {
    readonly situation: string
    readonly decisions: number
    readonly taken: number
    readonly invalid: number
    readonly trades: number
    readonly denied: Readonly<Record<string, number>>
    readonly resultUsd: string
    readonly maxDrawdownUsd: string
    readonly failed: { readonly turn: number; readonly reason: string } | null
    readonly lines: readonly {
      readonly turn: number
      readonly what: string
      readonly outcome: string
      readonly times: number
      readonly reason: string
    }[]
  }[]
}

/** A kind of one's own in the folder, with its file. */
function own(name: string, decide: string, rest = ''): string {
  writeFileSync(
    join(folder, `${name}.ts`),
    `import { defineStrategy, z } from '#strategy'
export default defineStrategy({
  kind: '${name}',
  description: 'One of a test.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  ${rest}
  ${decide},
})
`,
  )
  const path = join(folder, `${name}.yaml`)
  writeFileSync(
    path,
    `kind: ./${name}.ts\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 200, leverage: 2, collateral: short }\n`,
  )
  return path
}

/** An increase of the file's size, in the words of a kind. */
const opening = `{
    kind: 'increase', marketToken: market.market.marketToken, direction: 'long', sizeDeltaUsd: view.instance.size.usd,
    leverageBps: view.instance.size.leverageBps, collateralToken: market.market.shortToken, reason: 'The test wishes it.',
  }`

/** What they look for is in no situation: an approval, rates that differ within an index, an impact that pays, orders of others. */
const idle = ['approval-keeper', 'hedged-carry', 'impact-capture', 'order-janitor']

test.each(shippedStrategies)('%s is tried in all situations', async (path) => {
  const { code, out } = await perpd(folder, ['strategies', 'test', path, '--json'])
  expect(code).toBe(0)
  const body = JSON.parse(out) as Body
  expect(body.situations.map(({ situation }) => situation)).toEqual(situations.map(({ name }) => name))
  // Every other kind does something somewhere, and opens nothing where the venue has no room.
  const isIdle = idle.some((name) => path.endsWith(`${name}.yaml`))
  expect(body.situations.some(({ taken }) => taken > 0)).toBe(!isIdle)
  expect(body.situations.find(({ situation }) => situation === 'no-capacity')?.trades).toBe(0)
})

test('a trial is the same each time, and tells decisions, refusals, fills and what it came to', () => {
  const path = join(root, 'strategies/eth-trend.yaml')
  const [one, other] = [typed(path, '--json'), typed(path, '--json')]
  expect(other.stdout).toBe(one.stdout)
  const body = JSON.parse(one.stdout) as Body
  expect([body.turns, body.turnSeconds]).toEqual([240, 300])
  const full = body.situations.find(({ situation }) => situation === 'no-capacity')
  expect(full).toMatchObject({ taken: 0, trades: 0, resultUsd: '0' })
  // Refusals that repeat themselves are one line.
  expect(full?.lines.reduce((sum, { times }) => sum + times, 0)).toBe(full?.decisions)
  expect(full?.lines.length).toBeLessThan(20)
  const { stdout } = typed(path, '--situation', 'no-capacity')
  expect(stdout).toMatch(/increase long ETH\/USD +denied MAX_CAPACITY_SHARE, \d+ times/)
  expect(stdout).toMatch(/no-capacity +\d+ +0 +0 +\$0\.00 +\$0\.00 +MAX_CAPACITY_SHARE \d+/)
  expect(stdout).not.toContain('trend-up')
})

test('shipped files that hold a target come to it while the stops of their entries rest', async () => {
  const tried = async (name: string): Promise<Body['situations'][number] | undefined> => {
    const path = join(root, 'strategies/examples', name)
    const { out } = await perpd(folder, ['strategies', 'test', path, '--situation', 'chop', '--json'])
    return (JSON.parse(out) as Body).situations[0]
  }
  // Half of the account's worth is beyond the file's limit of $5,000, which orders of $300 come to.
  expect((await tried('eth-target-exposure.yaml'))?.trades).toBe(17)
  const weighed = await tried('rebalancer.yaml')
  expect([weighed?.trades, weighed?.denied]).toEqual([4, {}])
})

test('a guard is given a position to keep, and keeps it from its liquidation in a crash', () => {
  const { stdout } = typed(join(root, 'strategies/guard.yaml'), '--situation', 'crash')
  expect(stdout).toContain('It is given a long of $2,000.00 with 10x leverage to keep.')
  expect(stdout).toContain('decrease long ETH/USD $1,000.00')
  expect(stdout).not.toContain('liquidated')
})

test('limits of the file hold: what is above them is cut or denied', () => {
  const path = own(
    'greedy',
    `decide: (view) => { const market = view.market('ETH/USD [WETH-USDC]'); return [${opening}] }`,
  )
  writeFileSync(
    join(folder, 'greedy.yaml'),
    'kind: ./greedy.ts\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 200, leverage: 2, collateral: short }\nlimits: { maxPositionSizeUsd: 500, maxOrdersPerHour: 60 }\n',
  )
  const { status, stdout } = typed(path, '--situation', 'trend-up', '--json')
  expect(status).toBe(0)
  const [up] = (JSON.parse(stdout) as Body).situations
  expect([up?.taken, up?.denied]).toEqual([3, { MAX_POSITION_SIZE: 237 }])
  expect(up?.lines.filter(({ outcome }) => outcome === 'opened').map(({ what }) => what)).toEqual([
    'long ETH/USD $200.00',
    'long ETH/USD $200.00',
    'long ETH/USD $100.00',
  ])
})

test('a kind with a memory is given it, and what became of its orders, once', () => {
  const path = own(
    'mindful',
    `decide: (view, memory) => {
    const market = view.market('ETH/USD [WETH-USDC]')
    const seen = [...memory.seen, ...view.events.map((event) => event.kind)]
    if (memory.turns === 100) throw new Error('seen: ' + seen.join(' '))
    const decisions = memory.turns === 3 ? [${opening}] : memory.turns === 5 ? [{ ...${opening}, leverageBps: 0 }] : []
    return { decisions, memory: { turns: memory.turns + 1, seen } }
  }`,
    'memory: { version: 1, schema: z.strictObject({ turns: z.number(), seen: z.array(z.string()) }), first: { turns: 0, seen: [] } },',
  )
  const { status, stdout } = typed(path, '--situation', 'chop', '--json')
  expect(status).toBe(1)
  const [chop] = (JSON.parse(stdout) as Body).situations
  expect(chop?.failed).toMatchObject({
    turn: 101,
    reason: expect.stringContaining('seen: filled closed denied'),
  })
  expect([chop?.taken, chop?.denied]).toEqual([1, { LEVERAGE_NOT_POSITIVE: 1 }])
})

test('every kind of decision is judged, and what is taken is carried out', () => {
  const path = own(
    'manifold',
    `decide: (view, { turn }) => {
    const market = view.market('ETH/USD [WETH-USDC]')
    const price = market.oraclePrice.value.medianPrice
    const below = (percent) => price - (price * percent) / 100n
    const base = { marketToken: market.market.marketToken, direction: 'long', reason: 'The test wishes it.' }
    const collateralToken = market.market.shortToken
    const resting = (type) => view.restingOrders.filter(({ orderType }) => orderType === type)
    const turns = {
      0: () => ({ ...${opening}, tpsl: [{ type: 'stop-loss', triggerPrice: below(5n) }] }),
      1: () => ({ ...base, kind: 'edit', orderKey: resting('stop-loss')[0].orderKey, triggerPrice: below(3n) }),
      2: () => ({ ...base, kind: 'collateral-in', collateralToken, amount: 10_000_000n }),
      3: () => ({ ...base, kind: 'collateral-out', collateralToken, amount: 5_000_000n }),
      4: () => ({ ...base, kind: 'swap', payAmount: 100_000_000n }),
      5: () => ({ ...${opening}, orderType: 'limit', triggerPrice: below(9n) }),
      6: () => ({ ...base, kind: 'cancel', orderKeys: resting('limit').map(({ orderKey }) => orderKey) }),
      7: () => ({ kind: 'unwind', intentId: view.openIntents[0].intentId, reason: 'The test wishes it.' }),
      8: () => ({ ...base, kind: 'close', collateralToken }),
    }
    return { decisions: turn in turns ? [turns[turn]()] : [], memory: { turn: turn + 1 } }
  }`,
    'memory: { version: 1, schema: z.strictObject({ turn: z.number() }), first: { turn: 0 } },',
  ).replace('.yaml', '.ts')
  writeFileSync(path, readFileSync(path, 'utf8').replace('({ symbols })', '({ symbols, balances: true })'))
  const { status, stdout } = typed(path.replace('.ts', '.yaml'), '--situation', 'chop', '--json')
  expect(status).toBe(0)
  const [chop] = (JSON.parse(stdout) as Body).situations
  expect(chop?.lines.map(({ turn, what, outcome }) => `${turn} ${what}: ${outcome}`)).toEqual([
    '1 increase long ETH/USD $200.00: taken',
    '1 long ETH/USD $200.00: opened',
    '2 edit long ETH/USD $200.00: taken',
    '3 collateral-in long ETH/USD: taken',
    '4 collateral-out long ETH/USD: taken',
    '5 swap long ETH/USD: taken',
    '6 increase (limit) long ETH/USD $200.00: taken',
    '7 cancel long ETH/USD: taken',
    '8 unwind: taken',
    '8 long ETH/USD $200.00: reduced',
    '9 close long ETH/USD: denied NO_POSITION',
  ])
})

test('a kind that throws has code 1, and is told with its turn and its place', () => {
  const path = own('thrower', "decide: () => { throw new Error('not today') }")
  const { status, stdout } = typed(path)
  expect(status).toBe(1)
  expect(stdout).toMatch(/It failed at turn 1 and was stopped: .*thrower\.ts:\d+.*not today/)
})

test.each([
  ['nolist', 'decide: () => undefined', 'decide returned undefined'],
  ['misspelt', "decide: () => [{ kind: 'incraese' }]", 'kind'],
])(
  'a kind that decides what is no decision (%s) has code 1, and the field is named',
  (name, decide, said) => {
    const { status, stdout } = typed(own(name, decide), '--situation', 'chop')
    expect(status).toBe(1)
    expect(stdout).toMatch(/no decision +invalid, 240 times/)
    expect(stdout).toContain(said)
  },
)

test('a file that cannot be loaded has code 4, and the place of the mistake is told', () => {
  const path = join(folder, 'bad.yaml')
  writeFileSync(path, 'kind: trend\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 0, leverage: 2 }\n')
  expect(typed(path)).toMatchObject({ status: 4, stderr: expect.stringContaining('bad.yaml:3') })
  expect(typed(join(folder, 'none.yaml')).status).toBe(4)
  writeFileSync(path, 'kind: trend\nmarket: "NONE/USD [WETH-USDC]"\nsize: { usd: 100, leverage: 2 }\n')
  expect(typed(path)).toMatchObject({ status: 4, stderr: expect.stringContaining('is not a market') })
})

test('a situation that is none has code 2, and the names are told', () => {
  const { status, stderr } = typed(join(root, 'strategies/guard.yaml'), '--situation', 'crahs')
  expect([status, stderr]).toEqual([2, expect.stringContaining('Did you mean crash?')])
})

const edgeFile = (name: string, kind: string, rest: string): string => {
  const path = join(folder, `${name}.yaml`)
  const start = `kind: ${kind}\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 200, leverage: 2, collateral: short }`
  writeFileSync(path, `${start}\nprotect: { minEdgeBps: 100 }\n${rest}\n`)
  return path
}

test('a least edge that no entry passes is held in a trial too, and told at its end', async () => {
  const near = edgeFile('edge-near', 'trend', 'exit: { takeProfit: { bps: 105 } }')
  const { code, out } = await perpd(folder, ['strategies', 'test', near, '--situation', 'trend-up'])
  expect(code).toBe(0)
  const said = out.replace(/\s+/g, ' ')
  expect(said).toMatch(/denied EDGE_TOO_SMALL, \d+ times/)
  expect(said).toContain('edge-near: protect.minEdgeBps denies every entry (EDGE_TOO_SMALL)')
  const far = edgeFile('edge-far', 'trend', 'exit: { takeProfit: { bps: 113 } }')
  const passed = await perpd(folder, ['strategies', 'test', far, '--situation', 'trend-up', '--json'])
  expect(JSON.parse(passed.out)).toMatchObject({ noEntry: null, situations: [{ denied: {} }] })
})

test('of a kind of one’s own a trial tells what its entries said', async () => {
  own(
    'edge-own',
    `decide: (view) => { const market = view.market('ETH/USD [WETH-USDC]'); return [{ ...${opening}, expectedEdgeBps: 90 }] }`,
  )
  const path = edgeFile('edge-own', './edge-own.ts', '')
  const { out } = await perpd(folder, ['strategies', 'test', path, '--situation', 'chop', '--json'])
  expect(JSON.parse(out).noEntry).toBe(
    'protect.minEdgeBps let none of 240 entries through (EDGE_TOO_SMALL): the expected profit of this entry, 90.0 bps, is too small for its costs: fees 12.0, price impact 0.0, sending 0.0, holding 0.0 bps; set a more distant take-profit or a lower protect.minEdgeBps.',
  )
})

test('which kinds say what their entries may earn is as they do in a trial', async () => {
  const trading = Object.values(builtInKinds).filter(({ opensPositions }) => opensPositions)
  const heard: Record<string, string[]> = {}
  for (const { kind } of trading) {
    const { protect: _left, exit: _exit, ...file } = parse(readFileSync(exampleOf(kind)?.path ?? '', 'utf8'))
    const path = join(folder, `said-${kind}.yaml`)
    writeFileSync(path, JSON.stringify({ ...file, protect: { minEdgeBps: 9000 } }))
    const { out } = await perpd(folder, ['strategies', 'test', path, '--situation', 'chop', '--json'])
    const { denied } = (JSON.parse(out) as Body).situations[0] ?? { denied: {} }
    const codes = Object.keys(denied).filter((code) => code.startsWith('EDGE_'))
    if (codes.length > 0) heard[kind] = codes
  }
  const of = (code: string) => Object.keys(heard).filter((kind) => heard[kind]?.includes(code))
  expect(of('EDGE_TOO_SMALL').filter((kind) => !kindsThatSay.includes(kind))).toEqual([])
  // A signal may bring a take-profit; those of a trial bring none.
  expect(of('EDGE_UNKNOWN').filter((kind) => kindsThatSay.includes(kind))).toEqual(['signal'])
  expect(Object.keys(heard).length).toBeGreaterThan(8)
})
