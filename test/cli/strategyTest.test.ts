/** `perpd strategies test` as a process: shipped files, kinds of one's own with and without mistakes, files that are none. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { situations } from '../../src/backtest/trial/situations.ts'
import { exampleOf } from '../../src/cli/strategies/shippedExamples.ts'
import { kindsThatSay } from '../../src/strategy/files/edgeWarning.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'
import { ofShare, shareOfChange } from '../gate/depth.ts'
import { bareEnv } from '../support/bareEnv.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'
import { perpd } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-trial-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = resolve(import.meta.dirname, '../..')
const program = join(root, 'test/support/guardedMain.ts')

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
    readonly unexecuted: Readonly<Record<string, number>>
    readonly resultUsd: string
    readonly maxDrawdownUsd: string
    readonly failed: { readonly turn: number; readonly reason: string } | null
    readonly lines: readonly {
      readonly turn: number
      readonly strategy: string
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

/** What they look for is in no situation: an approval, amounts to claim, an impact that pays, orders of others. */
const idle = ['approval-keeper', 'claimer', 'eth-impact-capture', 'order-janitor']
/** Situations in which files act that do not in a squeeze. */
const liveliest: Readonly<Record<string, string>> = {
  'eth-carry': 'trend-up',
  'eth-hedged-carry': 'trend-up',
  guard: 'crash',
}

async function tried(path: string, situation: string): Promise<Body['situations'][number] | undefined> {
  const { code, out } = await perpd(folder, ['strategies', 'test', path, '--situation', situation, '--json'])
  expect(code).toBe(0)
  return (JSON.parse(out) as Body).situations[0]
}

// Two trials a file, each seconds of a processor; of a change each third file is tried.
test.each(ofShare(shippedStrategies, shareOfChange(3)))(
  '%s acts where it has reason to, and opens nothing where there is no room',
  async (path) => {
    const name = basename(path, '.yaml')
    const lively = await tried(path, liveliest[name] ?? 'squeeze')
    expect((lively?.taken ?? 0) > 0).toBe(!idle.includes(name))
    expect(lively?.lines.reduce((sum, { times }) => sum + times, 0)).toBe(
      (lively?.decisions ?? 0) + (lively?.trades ?? 0),
    )
    expect((await tried(path, 'no-capacity'))?.trades).toBe(0)
  },
)

test('a trial is the same each time, and tells decisions, refusals, fills and what it came to', async () => {
  const path = join(root, 'strategies/eth-trend.yaml')
  const { stdout } = typed(path, '--json')
  const body = JSON.parse(stdout) as Body
  expect([body.turns, body.turnSeconds]).toEqual([240, 300])
  expect(body.situations.map(({ situation }) => situation)).toEqual(situations.map(({ name }) => name))
  expect(await tried(path, 'squeeze')).toEqual(
    body.situations.find(({ situation }) => situation === 'squeeze'),
  )
  const full = body.situations.find(({ situation }) => situation === 'no-capacity')
  expect(full).toMatchObject({ taken: 0, trades: 0, resultUsd: '0' })
  // Refusals that repeat themselves are one line.
  expect(full?.lines.length).toBeLessThan(20)
  const { out } = await perpd(folder, ['strategies', 'test', path, '--situation', 'no-capacity'])
  expect(out).toMatch(/increase long ETH\/USD +denied MAX_CAPACITY_SHARE, \d+ times/)
  expect(out).toMatch(/no-capacity +\d+ +0 +0 +\$0\.00 +\$0\.00 +MAX_CAPACITY_SHARE \d+/)
  expect(out).not.toContain('trend-up')
})

test('entries are denied while no market data come, and for that time alone', async () => {
  const path = own(
    'restless',
    `decide: (view) => { const market = view.market('ETH/USD [WETH-USDC]'); return view.isBusy('ETH/USD [WETH-USDC]') ? [] : [${opening}] }`,
  )
  const stale = await tried(path, 'stale-data')
  const denied = stale?.lines.filter(({ outcome }) => outcome === 'denied DATA_TOO_OLD') ?? []
  expect(denied.map(({ turn }) => turn).every((turn) => turn > 81 && turn <= 160)).toBe(true)
  expect(stale?.denied.DATA_TOO_OLD).toBeGreaterThan(60)
  expect((await tried(path, 'trend-up'))?.denied).not.toHaveProperty('DATA_TOO_OLD')
})

test('two files trade one account as they do in a daemon: each its own part, and the limits of the account over both', async () => {
  const [one, other] = [
    own(
      'single',
      `decide: (view) => { const market = view.market('ETH/USD [WETH-USDC]'); return view.ownPositions('ETH/USD [WETH-USDC]').length + view.openIntents.length > 0 ? [] : [${opening}] }`,
    ),
    join(folder, 'double.yaml'),
  ]
  writeFileSync(other, readFileSync(one, 'utf8'))
  const { code, out } = await perpd(folder, [
    ...['strategies', 'test', one, other, '--situation', 'chop', '--json'],
    '--risk.maxPositionSizeUsd=300',
    '--risk.maxOrderSizeUsd=300',
  ])
  expect(code).toBe(0)
  const [chop] = (JSON.parse(out) as Body).situations
  const lines = chop?.lines.map(({ strategy, what, outcome }) => `${strategy} ${what}: ${outcome}`) ?? []
  expect(lines.filter((line) => line.startsWith('single')).slice(0, 2)).toEqual([
    'single increase long ETH/USD $200.00: taken',
    'single long ETH/USD $200.00: opened',
  ])
  // One order at a time adds on a market, whoever asks for it.
  expect(lines.filter((line) => line.startsWith('double')).slice(0, 3)).toEqual([
    'double increase long ETH/USD: denied SLOT_BUSY',
    'double increase long ETH/USD $100.00: taken',
    'double long ETH/USD $100.00: opened',
  ])
})

test('a task that a kind begins makes its orders as time passes', async () => {
  const path = own(
    'patient',
    `decide: (view) => { const market = view.market('ETH/USD [WETH-USDC]'); return [{
      kind: 'start-task', label: 'once', reason: 'The test wishes it.',
      task: { kind: 'twap', route: 'own', marketToken: market.market.marketToken, direction: 'long',
        collateralToken: market.market.shortToken, sizeUsd: view.instance.size.usd, leverageBps: 20_000, parts: 4, minutes: 20 } }] }`,
  )
  const up = await tried(path, 'trend-up')
  const told = up?.lines.map(({ what, outcome }) => `${what}: ${outcome}`)
  expect(told?.filter((line) => line.startsWith('start-task'))).toEqual(['start-task once: taken'])
  expect(told?.filter((line) => line.startsWith('task: '))).toEqual(
    Array.from({ length: 4 }, () => 'task: increase long ETH/USD $50.00: taken'),
  )
  const opened = up?.lines.filter(({ outcome }) => outcome === 'opened') ?? []
  expect([opened.length, (opened.at(-1)?.turn ?? 0) - (opened[0]?.turn ?? 0) > 10]).toEqual([4, true])
})

test('shipped files that hold a target come to it while the stops of their entries rest', async () => {
  const chop = (name: string) => tried(join(root, 'strategies/examples', name), 'chop')
  // Half of the account's worth is beyond the file's limit of $5,000, which orders of $300 come to.
  expect((await chop('eth-target-exposure.yaml'))?.trades).toBe(17)
  const weighed = await chop('rebalancer.yaml')
  expect([weighed?.trades, weighed?.denied]).toEqual([4, {}])
})

test('a guard is given a position to keep, and keeps it from its liquidation in a crash', () => {
  const { stdout } = typed(join(root, 'strategies/guard.yaml'), '--situation', 'crash')
  expect(stdout).toContain('The account begins with a long of $2,000.00 with 10x leverage.')
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
    '6 increase (limit) long ETH/USD $200.00: taken, ended CANCELLED_BY_ACCOUNT',
    '7 cancel long ETH/USD: taken',
    '8 unwind: taken',
    '8 long ETH/USD $200.00: reduced',
    '9 close long ETH/USD: denied POSITION_UNPROVEN',
  ])
})

test('a kind that throws has code 1, and is told with its turn and its place; perpd pauses it as it does a running one', () => {
  const path = own('thrower', "decide: () => { throw new Error('not today') }")
  const { status, stdout } = typed(path, '--situation', 'chop')
  expect(status).toBe(1)
  expect(stdout).toMatch(/It failed, first at turn 1: .*thrower\.ts:\d+.*not today/)
  expect(stdout).toMatch(/ 3 +no decision +paused/)
})

test.each([
  ['nolist', 'decide: () => undefined', 'decide returned undefined'],
  ['misspelt', "decide: () => [{ kind: 'incraese' }]", 'kind'],
])(
  'a kind that decides what is no decision (%s) has code 1, and the field is named',
  (name, decide, said) => {
    const { status, stdout } = typed(own(name, decide), '--situation', 'chop')
    expect(status).toBe(1)
    expect(stdout).toMatch(/no decision +invalid, 3 times/)
    expect(stdout).toMatch(/no decision +paused/)
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

test('an entry that is worth its fees alone is denied as the daemon denies it, which counts the cost of sending too', async () => {
  const near = edgeFile('edge-near', 'trend', 'exit: { takeProfit: { bps: 105 } }')
  const { code, out } = await perpd(folder, ['strategies', 'test', near, '--situation', 'trend-up'])
  expect(code).toBe(0)
  const said = out.replace(/\s+/g, ' ')
  expect(said).toMatch(/denied EDGE_TOO_SMALL, \d+ times/)
  expect(said).toContain('edge-near: protect.minEdgeBps denies every entry (EDGE_TOO_SMALL)')
  // 113 bps are 101 after the fees of both ways; a message of $200 costs some 50 bps.
  const withTarget = (name: string, bps: number) =>
    tried(edgeFile(name, 'trend', `exit: { takeProfit: { bps: ${bps} } }`), 'trend-up')
  const [middle, far] = [await withTarget('edge-middle', 113), await withTarget('edge-far', 300)]
  expect([middle?.taken, Object.keys(middle?.denied ?? {})]).toEqual([0, ['EDGE_TOO_SMALL']])
  expect([far?.taken, far?.denied]).toEqual([expect.any(Number), {}])
  expect(far?.trades).toBeGreaterThan(0)
})

test('a breaker of the account that opens in a crash holds back what comes after it', async () => {
  const path = own(
    'stubborn',
    `decide: (view) => { const market = view.market('ETH/USD [WETH-USDC]'); return view.isBusy('ETH/USD [WETH-USDC]') ? [] : [${opening}] }`,
  )
  const { code, out } = await perpd(folder, [
    ...['strategies', 'test', path, '--situation', 'crash', '--json'],
    '--risk.maxDailyLossUsd=10',
  ])
  expect(code).toBe(0)
  const [crash] = (JSON.parse(out) as Body).situations
  expect(crash?.taken).toBeGreaterThan(2)
  expect(crash?.denied).toMatchObject({ TRADING_REDUCING: expect.any(Number) })
})

test('of a kind of one’s own a trial tells what its entries said', async () => {
  own(
    'edge-own',
    `decide: (view) => { const market = view.market('ETH/USD [WETH-USDC]'); return [{ ...${opening}, expectedEdgeBps: 90 }] }`,
  )
  const path = edgeFile('edge-own', './edge-own.ts', '')
  const { out } = await perpd(folder, ['strategies', 'test', path, '--situation', 'chop', '--json'])
  expect(JSON.parse(out).noEntry).toMatch(
    /^protect\.minEdgeBps let none of 240 entries through \(EDGE_TOO_SMALL\): the expected profit of this entry, 90\.0 bps, is too small for its costs: fees 12\.0, price impact \d+\.\d, sending [1-9]\d\.\d, holding \d+\.\d bps;/,
  )
})

test('which kinds say what their entries may earn is as they do in a trial', {
  timeout: 900_000,
}, async () => {
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
