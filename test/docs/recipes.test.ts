/** The recipes of CONTRIBUTING.md, followed in a copy of the source: as many files as it says, and then it works. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AnyCommand } from '../../src/operator/commandRow.ts'
import { manualClock } from '../support/venue.ts'

const root = resolve(import.meta.dirname, '../..')
const copy = mkdtempSync(join(tmpdir(), 'perpd-recipes-'))
const textOf = (path: string) => readFileSync(join(copy, path), 'utf8')

/** One change: `add` goes before the text that `before` names, or to the file's end; a file that is not there is made. */
interface Step {
  readonly file: string
  readonly before?: string
  readonly add: string
}

/** Facts of a chain that is there, by another name. */
const chainText = readFileSync(join(root, 'src/protocol/chains/avalanche.ts'), 'utf8')
  .replace("'./pins/avalanche.json'", "'./pins/fuji.json'")
  .replace('export const avalanche: ChainFacts<', 'export const fuji: ChainFacts<')
  .replaceAll("'avalanche'", "'fuji'")
  .replace('chainId: 43114', 'chainId: 43113')

/** Data of the new chain: written by tools, or the user's own. */
const chainData = ['src/protocol/chains/pins/', 'src/paper/catalog/recorded/', 'config/']

/** What each row of CONTRIBUTING's table is followed with. */
const recipes: Readonly<Record<string, readonly Step[]>> = {
  'a chain': [
    { file: 'src/protocol/chains/fuji.ts', add: chainText },
    {
      file: 'src/protocol/chains/index.ts',
      before: 'import { megaeth }',
      add: "import { fuji } from './fuji.ts'\n",
    },
    { file: 'src/protocol/chains/index.ts', before: 'megaeth } as const', add: 'fuji, ' },
  ],
  'an API route': [
    {
      file: 'src/api/accounts/wallet.ts',
      add: `
const ageRoute: Route<WalletQuery, number> = {
  path: '/wallets/age',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: COALESCE_MS,
  query: ({ account }) => ({ address: account }),
  decode: (body) => count(object(body).ageSeconds, 'ageSeconds'),
}

/** How old a wallet is, seconds (\`GET /wallets/age\`). */
export function getWalletAge(transport: Transport, query: WalletQuery, options?: CallOptions): Promise<Read<number>> {
  return transport.call(ageRoute, query, options)
}
`,
    },
    {
      file: 'src/paper/reads/accountRoutes.ts',
      before: "  kit.api('GET', '/allowances'",
      add: "  kit.api('GET', '/wallets/age', ({ query }) => ({ ageSeconds: requiredAddress(query, 'address').length }))\n",
    },
    { file: 'scripts/documentedRoutes.ts', before: "    ['/allowances'],", add: "    ['/wallets/age'],\n" },
  ],
  'a setting': [
    {
      file: 'src/config/sections/daemonSection.ts',
      before: '  heartbeatSeconds: setting(',
      add: "  quietSeconds: setting(seconds(0, 600), 7, 'How long a start says nothing, seconds.'),\n",
    },
    {
      file: 'src/daemon/announce.ts',
      add: '\n/** When a start begins to speak, ms. */\nexport const quietMs = ({ log }: Config): number => log.quietSeconds * 1_000\n',
    },
  ],
  'a setting of the paper venue': [
    {
      file: 'src/protocol/settings/paperSection.ts',
      before: '  exitsReordered: setting(',
      add: "  largestTradeUsd: setting(integer(1, 1_000_000), 900, 'Largest trade of another trader, US dollars.'),\n",
    },
    {
      file: 'src/paper/keeper/traders.ts',
      add: '\n/** The largest trade of another trader, US dollars. */\nexport const largestTradeUsd = ({ settings }: Pick<VenueState, "settings">): number => settings.largestTradeUsd\n',
    },
  ],
  'a command of the operator': [
    {
      file: 'src/operator/commands/pinNote.ts',
      add: `/** Pins a note to a market: it is said back, and nothing else changes. */
import { z } from 'zod'
import { dollars, line } from '../../base/bodyFields.ts'
import { byFlag, json, marketName, yesFlag } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { done } from '../operatorAnswer.ts'

const body = z.strictObject({ text: line(80), nearPrice: dollars.exactOptional() })

/** The command. */
type PinCommand = CommandOf<'pin', typeof body, 'market'>

/** Its row. */
export const pinNote: CommandRow<PinCommand> = {
  type: 'pin',
  route: '/api/markets/:market/note',
  body,
  preview: async (_, { market }) => done(\`a note would be pinned to \${market}\`),
  run: async (_, { market, text, nearPrice }, { by }) =>
    done(\`\${by} pinned "\${text}" to \${market} at \${nearPrice ?? 'any price'}\`),
  api: { example: { text: 'watch it' } },
  forms: {
    pin: {
      title: 'Pin a note',
      effects: ['A note is pinned.'],
      fields: [{ name: 'text', label: 'Note' }],
      preview: 'first',
      send: 'Pin',
      place: 'limits',
      button: 'Pin…',
    },
  },
  cli: [
    {
      name: 'markets pin',
      isForRunning: true,
      summary: 'Pin a note to a market.',
      positional: marketName,
      flags: [
        { name: 'text', value: 'TEXT', doc: 'the note' },
        { name: 'near-price', value: 'PRICE', doc: 'where it stands' },
        yesFlag,
        byFlag,
        json,
      ],
      examples: ['perpd markets pin "ETH/USD [WETH-USDC]" --text "watch it" --near-price 1900 --yes'],
    },
  ],
}
`,
    },
    {
      file: 'src/operator/commands/index.ts',
      before: 'import { reloadFiles }',
      add: "import { pinNote } from './pinNote.ts'\n",
    },
    { file: 'src/operator/commands/index.ts', before: '  reloadFiles,\n', add: '  pinNote,\n' },
  ],
  'an event': [
    {
      file: 'src/domain/accountEvent.ts',
      before: '  /** Money entered the account',
      add: "  /** A rest that is too small to trade lies in the account; `leftUsd` is 0 once it is gone. */\n  | { readonly type: 'account.dusty'; readonly leftUsd: Usd; readonly sinceMs: number }\n",
    },
    {
      file: 'src/monitor/events/accountFamily.ts',
      before: "    'account.transferred': {",
      add: `    'account.dusty': {
      levels: ['info', 'warn'],
      level: ({ leftUsd }) => (leftUsd > 0n ? 'warn' : 'info'),
      meaning: 'A rest is too small to trade; at info, it is gone.',
      word: 'account',
      text: ({ leftUsd }) => (leftUsd > 0n ? \`\${money(leftUsd)} is too small to trade\` : 'no rest is left'),
      fields: ['left_usd', 'since_ms'],
      moves: ({ dust }, { leftUsd }) => dust.set(asNumber(leftUsd)),
      notice: ({ leftUsd }) => ({
        kind: 'account-dusty',
        cause: 'dust',
        ...(leftUsd > 0n ? { action: 'Close it at the venue.' } : { isEnd: true }),
      }),
    },
`,
    },
    {
      file: 'src/monitor/events/accountFamily.ts',
      before: '  return { discrepancies,',
      add: "  const dust = gauge('perpd_dust_usd', 'Rest that is too small to trade, USD.')\n",
    },
    { file: 'src/monitor/events/accountFamily.ts', before: ' discrepancies, transfers', add: ' dust,' },
    {
      file: 'src/execution/track/emitFills.ts',
      add: `
/** Reports a rest that is too small to trade. */
export function reportDust(emit: HasEmit['emit'], leftUsd: bigint, sinceMs: number): void {
  emit({ type: 'account.dusty', leftUsd, sinceMs })
}
`,
    },
  ],
  'an incident': [
    {
      file: 'src/monitor/events/notice.ts',
      before: "  test: 'the message of",
      add: "  'account-dusty': 'a rest is too small to trade, or it is gone',\n",
    },
    { file: 'src/monitor/events/notice.ts', before: "  'books-differ',\n", add: "  'account-dusty',\n" },
    // Its rows are those of the event above.
    { file: 'src/monitor/events/accountFamily.ts', add: '' },
  ],
  'a task that makes orders over time': [
    {
      file: 'src/tasks/trickleTask.ts',
      add: `/** Trickles: adds one small order after the other until all of it is filled. Pure. */
import { amount, sizeInAll, WEEK_MINUTES } from './taskFields.ts'
import { adding } from './taskOrders.ts'
import { type SideParams, taskRow } from './taskRow.ts'
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import { minOf } from '../protocol/units.ts'

const fields = {
  sizeUsd: sizeInAll,
  dropUsd: amount({
    typed: 'drop',
    means: 'size of one order',
    said: (shown) => \`\${shown} USD at a time\`,
    form: ['One order, USD', '10'],
  }),
}

/** The kind of these tasks. */
export const trickleTask = taskRow({
  name: 'trickle',
  version: 1,
  works: 'opens',
  fields,
  does: 'small orders, one after the other.',
  doneWhen: 'when all is filled',
  example: '"ETH/USD [WETH-USDC]" long --size 100 --drop 20 --leverage 2',
  lead: ({ size }, side) => \`\${side} by \${size} USD\`,
  plan({ params, state, taskId }: { params: SideParams<typeof fields>; state: ExecutorProgress; taskId: string }, _view, { leftUsd }) {
    const sizeUsd = minOf(params.dropUsd, leftUsd)
    const decision = adding(params, sizeUsd, params.leverageBps, \`a drop of \${taskId}\`, { task: taskId })
    return { kind: 'order', decision, sizeUsd, orders: 1, state }
  },
  draft: ({ sizeUsd, dropUsd }) => ({
    sizeUsd,
    state: { made: 0 },
    orders: Number((sizeUsd + dropUsd - 1n) / dropUsd),
    minutes: WEEK_MINUTES,
  }),
})
`,
    },
    {
      file: 'src/tasks/taskRows.ts',
      before: 'import { twapTask }',
      add: "import { trickleTask } from './trickleTask.ts'\n",
    },
    { file: 'src/tasks/taskRows.ts', before: '] as const', add: ', trickleTask' },
  ],
  'a decision of strategies': [
    {
      file: 'src/domain/order/decisionSchema.ts',
      before: '/** Every decision but the start of a task',
      add: `const leaveNote = z
  .strictObject({
    kind: z.literal('leave-note'),
    stars: whole(1, 5).describe('Weight of the note.'),
    ...explained,
  })
  .describe('Leaves a note in the log.')

`,
    },
    { file: 'src/domain/order/decisionSchema.ts', before: '  unwind,\n', add: '  leaveNote,\n' },
    {
      file: 'src/engine/turn.ts',
      before: "  if (decision.kind === 'report-order') {",
      add: `  if (decision.kind === 'leave-note') {
    emit({ type: 'decision.made', strategy, decisionKey, decision, symbol: '' })
    return undefined
  }
`,
    },
    {
      file: 'src/monitor/events/orderWords.ts',
      before: '  const { direction } = decision\n  switch',
      add: `  if (decision.kind === 'leave-note') return \`leave a note of \${counted(decision.stars, 'star')}\`\n`,
    },
  ],
  'a limit': [
    {
      file: 'src/domain/limits/limitTable.ts',
      before: '  maxOrderSizeUsd: {',
      add: `  minEquityUsd: {
    unit: 'usd',
    tighter: 'more',
    initial: '0',
    isOptional: true,
    doc: 'Least equity with which anything is increased, USD. 0: no such limit.',
    inFile: 'nothing is opened while the account is worth less',
    denies: { code: 'EQUITY_TOO_LOW', meaning: 'the account is worth less than its limit; reductions go on' },
  },
`,
    },
    {
      file: 'src/risk/checks/checks.ts',
      before: '  ({ classified, view, context }) => checkDataAge(',
      add: `  ({ classified, context: { equity: { equityUsd } = { equityUsd: 0n }, limits } }) =>
    classified.adds && equityUsd < (limits.minEquityUsd ?? 0n)
      ? {
          code: 'EQUITY_TOO_LOW',
          reason: 'The account is worth less than its limit.',
          wanted: formatDollars(equityUsd),
          allowed: formatDollars(limits.minEquityUsd ?? 0n),
        }
      : undefined,
`,
    },
  ],
}

/** What the new event of the copy says. */
const dusty = { leftUsd: 5n * 10n ** 30n, sinceMs: 60_000 }

/** A status of an engine in which nothing happens, as far as the metrics read it. */
const still = {
  ...{ state: 'running', tradingState: 'active', notReady: [], halts: [], strategies: [], openIntents: [] },
  ...{ oldestUnresolvedSeconds: 0, exposureUsd: 0n, discrepancies: [], contradictions: [], unwinds: [] },
  ...{ tasksRunning: {}, feedAgesMs: {}, feedsOverdueMs: {} },
}

function follow({ file, before, add }: Step): void {
  const text = existsSync(join(copy, file)) ? textOf(file) : ''
  const at = before === undefined ? text.length : text.indexOf(before)
  if (at < 0) throw new Error(`${file} has no ${before}: change the recipe of this test`)
  writeFileSync(join(copy, file), text.slice(0, at) + add + text.slice(at))
}

/** What a program of the copy says; lines are joined, wherever they were broken. */
function run(program: string, args: readonly string[], env: Record<string, string> = {}) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, COLUMNS: '80', ...env },
  })
  return { stdout, status, said: `${stdout}\n${stderr}`.replace(/\s+/g, ' ') }
}
const perpd = (args: readonly string[], env?: Record<string, string>) => run('src/cli/main.ts', args, env)

beforeAll(() => {
  for (const part of [
    'src',
    'scripts',
    'config',
    'docs',
    'strategies',
    'package.json',
    'CONTRIBUTING.md',
    'test/api',
  ])
    cpSync(join(root, part), join(copy, part), {
      recursive: true,
      // Another test installs what builds the site, and takes it away.
      filter: (path) => !path.includes(`${sep}site${sep}node_modules`),
    })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const { compilerOptions, exclude } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'], exclude }))
  for (const step of Object.values(recipes).flat()) follow(step)
  for (const folder of chainData) {
    const data = readFileSync(join(root, folder, 'avalanche.json'), 'utf8')
    writeFileSync(join(copy, folder, 'fuji.json'), data.replace('"chain": "avalanche"', '"chain": "fuji"'))
  }
  const { status, said } = run('scripts/documents.ts', [])
  expect([status, said]).toEqual([0, expect.anything()])
})
afterAll(() => rmSync(copy, { recursive: true }))

test('each recipe touches as many files as CONTRIBUTING says, and those that it names', () => {
  for (const [what, steps] of Object.entries(recipes)) {
    const row = new RegExp(`^\\| ${what} \\| (\\d+) files?[^|]* \\| (.*) \\|$`, 'm').exec(
      textOf('CONTRIBUTING.md'),
    )
    expect([what, row?.[1]]).toEqual([what, String(new Set(steps.map(({ file }) => file)).size)])
    const named = [...(row?.[2] ?? '').matchAll(/`(src\/[^`]+)`/g)].map(([, path = '']) => path)
    const [first] = steps
    const isNamed = (path: string) => first?.file.startsWith(path.replace(/<name>.*/, '')) === true
    expect([what, named.some(isNamed)]).toEqual([what, true])
  }
})

test('what the recipes made has the right types', { timeout: 600_000 }, () => {
  const { stdout, status } = run(join(root, 'node_modules/typescript/bin/tsc'), ['--noEmit'])
  expect([stdout, status]).toEqual(['', 0])
})

test('a new setting is documented, is in the JSON Schema, and is taken from a flag, a variable and a file', () => {
  expect(textOf('docs/reference/configuration.md')).toContain(
    '| `log.quietSeconds` | How long a start says nothing, seconds. | a whole number from 0 to 600 | `7` | `PERPD__LOG__QUIET_SECONDS` |',
  )
  const { properties } = JSON.parse(textOf('config/schema/settings.json'))
  expect(properties.log.properties.quietSeconds).toMatchObject({ default: 7, type: 'integer', maximum: 600 })
  expect(properties.paper.properties.largestTradeUsd).toMatchObject({ default: 900 })
  const shown = JSON.parse(
    perpd(['config', '--json', '--log.quietSeconds', '9', '--paper.largestTradeUsd=5']).stdout,
  )
  expect(shown.settings['log.quietSeconds']).toEqual({ value: 9, origin: 'flag --log.quietSeconds' })
  expect(shown.settings['paper.largestTradeUsd'].value).toBe(5)
  const { status, said } = perpd(['config'], { PERPD__LOG__QUIET_SECONDS: 'long' })
  expect(status).toBe(4)
  expect(said).toContain(
    'env PERPD__LOG__QUIET_SECONDS: log.quietSeconds is "long"; expected a whole number from 0 to 600.',
  )
})

test('a new limit is documented, is one of the account, of markets and of files, loosens by confirmation, and is kept', async () => {
  const row =
    '| `EQUITY_TOO_LOW` | `minEquityUsd` | the account is worth less than its limit; reductions go on |'
  expect(textOf('docs/reference/errors.md')).toContain(row)
  expect(textOf('docs/reference/configuration.md')).toContain(
    '| `risk.minEquityUsd` | Least equity with which',
  )
  expect(textOf('docs/reference/strategies.md')).toContain(
    '| `minEquityUsd` | US dollars | nothing is opened while the account is worth less |',
  )
  const { properties } = JSON.parse(textOf('config/schema/settings.json'))
  expect(properties.risk.properties.minEquityUsd).toMatchObject({ default: '0' })
  mkdirSync(join(copy, 'own'))
  writeFileSync(
    join(copy, 'own/mine.yaml'),
    'kind: trend\nmarket: ETH/USD [WETH-USDC]\nsize: { usd: 250, leverage: 2 }\nlimits: { minEquityUsd: 700 }\n',
  )
  const { said, status } = perpd([
    'check',
    '--strategies.paths=./own',
    '--risk.minEquityUsd=900',
    '--risk.markets=ETH/USD [WETH-USDC]: minEquityUsd=800',
  ])
  expect(status).toBe(0)
  expect(said).toContain("mine: minEquityUsd $700.00 is looser than the account's $900.00, which holds.")
  const changed = (path: string) => import(pathToFileURL(join(copy, path)).href)
  const { changesOf, changeText } = await changed('src/account/liveLimits.ts')
  const [change] = changesOf({ '|minEquityUsd': String(9n * 10n ** 30n) }, {})
  expect([change.isTighter, changeText(change)]).toEqual([false, 'minEquityUsd $9.00 -> none'])
  const { checkLimits } = await changed('src/risk/checks/checks.ts')
  const desk = { equity: { equityUsd: 8n * 10n ** 30n }, limits: { minEquityUsd: 9n * 10n ** 30n } }
  expect(checkLimits({ adds: true }, {}, desk)).toMatchObject({ code: 'EQUITY_TOO_LOW', allowed: '$9.00' })
})

test('a new chain is one of the choices, has its profile, and its paper venue serves it', async () => {
  expect(textOf('docs/reference/configuration.md')).toContain('one of arbitrum, avalanche, fuji, megaeth')
  const live = JSON.parse(perpd(['config', '--json', '--profile', 'fuji']).stdout)
  expect(live.settings['venue.chain']).toEqual({ value: 'fuji', origin: 'profile config/fuji.json' })
  const paper = perpd(['check', '--venue.chain=fuji', '--strategies.paths=./strategies/guard.yaml'])
  expect([paper.status, paper.said]).toEqual([0, expect.stringContaining('play money on fuji')])
  const changed = (path: string) => import(pathToFileURL(join(copy, path)).href)
  const [{ createVenue }, { chains }, { chainGas }] = await Promise.all([
    changed('src/paper/server/venue.ts'),
    changed('src/protocol/chains/index.ts'),
    changed('src/protocol/chains/gas.ts'),
  ])
  expect(chainGas.fuji).toBe(chains.fuji.gas)
  const venue = createVenue({
    clock: { now: () => 1_780_000_000_000, monotonicMs: () => 0 },
    chain: chains.fuji,
    seed: 1,
  })
  const answer = await venue.fetch(new Request(`http://127.0.0.1${venue.paths.api[0]}/markets`))
  expect([answer.status, (await answer.json()).length > 0]).toEqual([200, true])
})

test('a new route is a method of the clients, is answered by the paper venue, and is in the coverage', async () => {
  expect(textOf('docs/reference/api-coverage.md')).toMatch(/GET `\/wallets\/age` .* `getWalletAge` /)
  const changed = (path: string) => import(pathToFileURL(join(copy, path)).href)
  const [{ createApi }, { createVenue }, { chains }] = await Promise.all([
    changed('src/api/index.ts'),
    changed('src/paper/server/venue.ts'),
    changed('src/protocol/chains/index.ts'),
  ])
  const clock = manualClock(1_780_000_000_000)
  const venue = createVenue({ clock, chain: chains.arbitrum, seed: 1 })
  const hosts = (paths: readonly string[]) => paths.map((path) => `http://127.0.0.1${path}`)
  const api = createApi({
    chain: chains.arbitrum,
    hosts: { api: hosts(venue.paths.api), oracle: hosts(venue.paths.oracle) },
    fetch: (url: string) => venue.fetch(new Request(url)),
    clock,
    random: () => 0.5,
  })
  expect(await api.getWalletAge({ account: `0x${'19'.repeat(20)}` })).toMatchObject({ value: 42 })
})

test('a new command has its route, its place in the answer to an unknown one, its command line and its form, and its pages', async () => {
  expect(textOf('docs/reference/commands.md')).toContain('## perpd markets pin')
  expect(textOf('docs/reference/control-api.md')).toContain(
    '| `POST /api/markets/:market/note` | `{"text":"watch it","by":"ann"}`; `nearPrice`, `preview` |',
  )
  expect(textOf('src/control/console/page/commandForms.ts')).toContain('button:"Pin…"')
  const help = perpd(['markets', 'pin', '--help'])
  expect([help.status, help.said]).toEqual([0, expect.stringContaining('--near-price PRICE')])
  expect(perpd(['completion', 'bash']).stdout).toContain('markets pin')
  const changed = (path: string) => import(pathToFileURL(join(copy, path)).href)
  const [{ commandRoutes }, { commandRows, rowOf }, { requestOf }] = await Promise.all([
    changed('src/control/commandRoutes.ts'),
    changed('src/operator/commands/index.ts'),
    changed('src/cli/call/sendRow.ts'),
  ])
  const row = commandRows.pinNote
  const flags = new Map<string, string | true>([
    ['text', 'watch it'],
    ['near-price', '$1900'],
    ['by', 'ann'],
  ])
  const { path, body } = requestOf({ flags, positionals: ['ETH/USD [WETH-USDC]'] }, row, row.cli[0])
  expect(body).toEqual({ text: 'watch it', nearPrice: '1900', by: 'ann' })
  const app = new Hono()
  commandRoutes(app, {
    operate: (command: AnyCommand, commander: object) => rowOf(command).run({}, command, commander),
  })
  const post = async (sent: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await app.request(path, { method: 'POST', headers, body: JSON.stringify(sent) })
    return [answer.status, await answer.json()]
  }
  expect(await post(body)).toEqual([
    200,
    { ok: true, statement: 'ann pinned "watch it" to ETH/USD [WETH-USDC] at 1900' },
  ])
  expect(await post({ ...body, nearPrice: '0,9' })).toMatchObject([400, { error: 'BAD_COMMAND' }])
})

test('a new event has its line, its series, its notice and its incident, and is on the pages', async () => {
  expect(textOf('docs/reference/events.md')).toContain(
    '| `account.dusty` | info, warn | `left_usd`, `since_ms` | A rest is too small to trade; at info, it is gone. |',
  )
  expect(textOf('docs/reference/metrics.md')).toContain('| `perpd_dust_usd` | gauge |')
  expect(textOf('docs/reference/notifications.md')).toContain('| `account-dusty` | a rest is too small')
  const changed = (path: string) => import(pathToFileURL(join(copy, path)).href)
  const [{ reportDust }, { createLog }, { createMetrics }, { createIncidents }] = await Promise.all([
    changed('src/execution/track/emitFills.ts'),
    changed('src/monitor/log/log.ts'),
    changed('src/monitor/metrics/metrics.ts'),
    changed('src/monitor/incidents/incidents.ts'),
  ])
  const lines: string[] = []
  const stream = { write: (text: string) => lines.push(text) }
  const log = createLog({ level: 'info', format: 'json', stream })
  const metrics = createMetrics({ version: '1', profile: 'paper', chain: 'arbitrum' })
  const incidents = createIncidents({ now: () => 7 })
  const told: unknown[] = []
  const emit = (event: object) => {
    log.listen(event)
    metrics.listen(event)
    told.push(...incidents.take(event, 0).map(({ notice }: { readonly notice: object }) => notice))
  }
  reportDust(emit, dusty.leftUsd, dusty.sinceMs)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ event: 'account.dusty', level: 'warn', message: '$5.00 is too small to trade' },
    ...{ left_usd: String(dusty.leftUsd), left_dollars: '5', since_ms: 60_000 },
  })
  expect(await metrics.render({ ...still, incidents: incidents.open() })).toMatch(
    /perpd_incidents_open\{kind="account-dusty"\} 1\n[\s\S]*perpd_dust_usd 5\n/,
  )
  expect(incidents.open()).toEqual([
    {
      ...{ kind: 'account-dusty', subject: 'dust', sinceMs: 7, level: 'warn' },
      ...{ reason: '$5.00 is too small to trade', action: 'Close it at the venue.' },
    },
  ])
  reportDust(emit, 0n, dusty.sinceMs)
  expect(incidents.open()).toEqual([])
  expect(told).toMatchObject([{ kind: 'account-dusty', level: 'warn' }, { isEnd: true }])
})

test('a new task is a decision of strategies, a command with help and completion, a form, and stands on every page', async () => {
  expect(textOf('docs/reference/commands.md')).toContain('| `--drop USD` | trickle: size of one order |')
  expect(textOf('docs/tasks.md')).toContain(
    '| `trickle` | small orders, one after the other. | `--size`, `--drop`',
  )
  expect(textOf('docs/reference/strategies.md')).toContain(
    '| `dropUsd` | a bigint, USD with 30 decimals | size of one order. |',
  )
  expect(textOf('src/control/console/page/commandForms.ts')).toContain('button:"Trickle…"')
  expect(perpd(['completion', 'bash']).stdout).toContain('trickle')
  const changed = (path: string) => import(pathToFileURL(join(copy, path)).href)
  const [{ startBody }, { startTaskBody }, { decisionProblem }, { plannedTask }, { rowOfTask }, { askedOf }] =
    await Promise.all([
      changed('src/cli/taskVerbs/startBody.ts'),
      changed('src/operator/taskBodies.ts'),
      changed('src/strategy/decisionProblem.ts'),
      changed('src/tasks/plannedTask.ts'),
      changed('src/tasks/taskRows.ts'),
      changed('src/tasks/taskRow.ts'),
    ])
  const flags = new Map([
    ['size', '100'],
    ['drop', '30'],
    ['leverage', '2'],
  ])
  const market = 'ETH/USD [WETH-USDC]'
  const body = startBody({ flags, positionals: ['trickle', market, 'long'] })
  expect(startTaskBody.parse({ ...body, id: 'abcd' })).toEqual({ ...body, id: 'abcd' })
  expect(askedOf(rowOfTask('trickle'), body)).toBe(`open ${market} long by 100 USD, at 2x, 30 USD at a time`)
  const token = `0x${'19'.repeat(20)}`
  const dollar = 10n ** 30n
  const task = {
    ...{
      kind: 'trickle',
      marketToken: token,
      direction: 'long',
      collateralToken: token,
      leverageBps: 20_000,
    },
    ...{ sizeUsd: 100n * dollar, dropUsd: 30n * dollar },
  }
  const start = { kind: 'start-task', label: 'one', reason: 'it is time', task }
  expect(decisionProblem(start)).toBeUndefined()
  expect(decisionProblem({ ...start, task: { ...task, dropUsd: 30 } })).toMatchObject({
    field: 'task.dropUsd',
  })
  const view = { market: { symbol: market, marketToken: token } }
  const snapshot = { markets: new Map([[token, view]]), orders: { value: [] } }
  const planned = plannedTask(task, {
    snapshot,
    nowMs: 0,
    mostSendingUsd: 1n,
    mostReducingUsd: 1n,
    asked: 'it',
  })
  expect(planned.params).toMatchObject({ symbol: market, dropUsd: 30n * dollar, budget: { orders: 8 } })
  const running = { taskId: 'trickle:one', by: 'ann', sinceMs: 0, ...planned }
  const seen = {
    nowMs: 0,
    snapshot,
    children: [],
    isMade: () => false,
    mostSendingUsd: 1n,
    feeTokenDecimals: 6,
  }
  expect(rowOfTask('trickle').next(running, seen)).toMatchObject({
    decisions: [{ decisionKey: 'trickle:one#1', decision: { kind: 'increase', sizeDeltaUsd: 30n * dollar } }],
  })
})

test('a new decision is checked field by field, has its words, and is on the reference page', async () => {
  expect(textOf('docs/reference/strategies.md')).toMatch(
    /### leave-note\n\nLeaves a note in the log\.[\s\S]*?\| `stars` \| a whole number from 1 to 5 \| Weight of the note\. \|/,
  )
  const changed = (path: string) => import(pathToFileURL(join(copy, path)).href)
  const [{ decisionProblem }, { decisionText }] = await Promise.all([
    changed('src/strategy/decisionProblem.ts'),
    changed('src/monitor/events/orderWords.ts'),
  ])
  const note = { kind: 'leave-note', stars: 3, reason: 'why not' }
  expect(decisionProblem(note)).toBeUndefined()
  expect(decisionProblem({ ...note, stars: 6 })).toMatchObject({ field: 'stars' })
  expect(decisionText(note, '')).toBe('leave a note of 3 stars')
})
