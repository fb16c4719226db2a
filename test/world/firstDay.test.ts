/**
 * A user's first day, typed as he types it: a fresh checkout, `npm start`, a look around with every command at 80 columns, a kind
 * of his own with a stop, a close by hand from another client, each mistake that is easily made, `kill -9`, and a start again.
 * What is on the screen is kept beside this file, with figures, times and names of this run taken out.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createApi } from '../../src/api/client.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { realClock } from '../api/support.ts'
import { carryOut } from '../api/venueSupport.ts'
import { scratch, until } from './processes.ts'

const root = resolve(import.meta.dirname, '..', '..')
const folder = scratch()
const checkout = join(folder.path, 'perpd')
const eth = 'ETH/USD [WETH-USDC]'

/** A user's environment: the system's own Node in front, nothing of this test run's. */
const env = {
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((each) => !each.includes('node_modules'))
    .concat(dirname(process.execPath))
    .join(delimiter),
  HOME: folder.path,
  COLUMNS: '80',
  NO_COLOR: '1',
  // He would wait for each command to be compiled; a test of some sixty need not.
  NODE_COMPILE_CACHE: join(folder.path, 'compiled'),
}

interface Screen {
  readonly code: number | null
  readonly text: string
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly perpd: string }
}

/** `npm run -s perpd -- WORDS` in the checkout. */
const byNpm = (...words: readonly string[]) =>
  shown(spawn('npm', ['run', '-s', 'perpd', '--', ...words], { cwd: checkout, env }), words)

/** The same as npm carries it out, without npm's own start, which of some sixty commands is most of the time. */
function typed(...words: readonly string[]): Promise<Screen> {
  const bin = join(checkout, 'node_modules', '.bin')
  const asNpm = { ...env, PATH: `${bin}${delimiter}${env.PATH}` }
  return shown(
    spawn('sh', ['-c', `${scripts.perpd} "$@"`, 'sh', ...words], { cwd: checkout, env: asNpm }),
    words,
  )
}

/** What a command shows, once it has ended. */
async function shown(child: ChildProcess, words: readonly string[]): Promise<Screen> {
  const text = heard(child)
  const [code] = (await once(child, 'close')) as [number | null]
  const said = text().replace(/^npm warn .*\n/gm, '')
  expect(
    said.split('\n').filter((line) => line.length > 80),
    `perpd ${words.join(' ')} has lines over 80`,
  ).toEqual([])
  return { code, text: said }
}

function heard({ stdout, stderr }: ChildProcess): () => string {
  let all = ''
  for (const stream of [stdout, stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      all += text
    })
  return () => all
}

interface Daemon {
  readonly said: () => string
  /** The daemon's own process, below npm's. */
  readonly pid: () => number
  readonly ended: Promise<unknown[]>
  /** What Ctrl-C does: the signal goes to npm and to the daemon. */
  readonly ctrlC: () => Promise<unknown>
}

const started: { readonly pid: number; readonly ended: Promise<unknown[]> }[] = []

/** `npm start` in a terminal of its own, until it is ready. */
async function start(...flags: readonly string[]): Promise<Daemon> {
  const child = spawn('npm', ['start', '--', '--control.port=0', '--log.format=pretty', ...flags], {
    cwd: checkout,
    env,
    detached: true,
  })
  const said = heard(child)
  const ended = once(child, 'close')
  started.push({ pid: child.pid ?? 0, ended })
  await until('it is ready', () => said().includes('ready: strategies are running') || undefined, {
    seen: said,
  })
  const pid = () =>
    Number(
      JSON.parse(readFileSync(join(checkout, 'var', 'paper', 'control.token.address'), 'utf8')).pid as number,
    )
  const ctrlC = async () => {
    process.kill(-(child.pid ?? 0), 'SIGINT')
    const [code, signal] = await ended
    return code === 0 ? 'ended well' : { code, signal, said: said() }
  }
  return { said, pid, ended, ctrlC }
}

/** A text without what differs from run to run, in lines of words. */
function kept(text: string): string {
  const plain = text
    .replaceAll(folder.path, 'FOLDER')
    .replace(/\s+/g, ' ')
    .replace(/0x[0-9a-fA-F]{40}\b/g, 'ADDRESS')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'HOST')
    .replace(/\b[0-9a-f]{24}\b|\b(?=[a-f]*\d)[0-9a-f]{8}\b/g, 'ID')
    .replace(/\b(?:\d{4}-)?\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'TIME')
    .replace(/-?\$[\d,.]*\d[kMB]?/g, '$N')
    .replace(/\b(?:\d+(?:\.\d+)? (?:h|min|ms|s)\b ?)+/g, 'SPAN ')
    .replace(/-?\b\d[\d,]*(?:\.\d+)?(?:%|[kMB]\b)?/g, 'N')
  const lines: string[] = ['']
  for (const word of plain.trim().split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length < 100) lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}

/** A kind of the user's own whose `decide` ends with `body`, and its instance. */
function writeKind(name: string, body: string): void {
  writeFileSync(
    join(checkout, 'strategies', `${name}.ts`),
    `import { collateralTokenOf, defineStrategy, z } from '#strategy'

export default defineStrategy({
  kind: '${name}',
  description: 'Of the first day.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const { size, symbols } = view.instance
    const market = view.market(symbols[0] ?? '')
    const price = market?.ticker?.value.markPrice
    if (market === undefined || price === undefined || size === undefined) return []
    if (view.openIntents.length > 0 || view.positions(symbols[0]).length > 0) return []
    const long = { kind: 'increase' as const, marketToken: market.market.marketToken, direction: 'long' as const,
      sizeDeltaUsd: size.usd, leverageBps: size.leverageBps,
      collateralToken: collateralTokenOf(market, size.collateral), reason: 'the first day' }
    ${body}
  },
})
`,
  )
  writeFileSync(
    join(checkout, 'strategies', `${name}.yaml`),
    `kind: ./${name}.ts\nmarket: "${eth}"\ncadenceSeconds: 1\nsize: { usd: 100, leverage: 2 }\n`,
  )
}

function disable(name: string): void {
  const path = join(checkout, 'strategies', `${name}.yaml`)
  writeFileSync(path, `enabled: false\n${readFileSync(path, 'utf8').replace(/^enabled:.*\n/m, '')}`)
}

/** Closes the account's position with the account's own key, as its wallet does from the venue's page. */
async function closeByHand(said: string): Promise<void> {
  const api = [...new Set(said.match(/http:\/\/127\.0\.0\.1:\d+\/api\/\d\/v1/g))]
  const fetching = createNodeFetch()
  const client = createApi({
    chain: chains.arbitrum,
    hosts: { api, oracle: [] },
    fetch: fetching.fetch,
    clock: realClock,
    random: Math.random,
    limits: {},
  })
  const file = readFileSync(join(checkout, 'var', 'paper', 'account.key'), 'utf8')
  const key = (/0x[0-9a-f]{64}/i.exec(file)?.[0] ?? '0x') as Hex
  const signer = privateKeyToAccount(key)
  const from = signer.address
  const { value } = await client.getPositions({ account: from })
  const [position] = value
  if (position === undefined) throw new Error('nothing to close')
  const prepared = await client.prepareOrder({
    kind: 'decrease',
    orderType: 'market',
    from,
    symbol: eth,
    direction: 'long',
    sizeDeltaUsd: position.sizeInUsd,
    slippageBps: 300,
    collateralToken: 'USDC',
    receiveToken: 'USDC',
    keepLeverage: false,
  })
  await carryOut(client, prepared.value, { signer, from }, ['executed'])
  fetching.close()
}

beforeAll(() => {
  // What a clone has: the files that git knows. The packages are those of this checkout, as `npm ci` installed them.
  mkdirSync(checkout)
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files.filter((each) => each !== '' && !each.startsWith('test/')))
    cpSync(join(root, file), join(checkout, file))
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
})

afterEach(async () => {
  for (const { pid, ended } of started.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
    await ended
  }
})
afterAll(() => folder.remove())

const looks: readonly (readonly string[])[] = [
  ['--help'],
  ['status'],
  ['positions'],
  ['orders'],
  ['trades'],
  ['trades', '--round-trips'],
  ['pnl'],
  ['balance'],
  ['markets', '--search', 'ETH/USD'],
  ['strategies'],
  ['logs'],
  ['discrepancies'],
  ['limits'],
  ['trading'],
  ['check'],
  ['config'],
  ['journal', 'verify'],
  ['subaccount', 'status'],
]

test('morning: it starts with nothing set, each command answers on a screen of 80 columns, and Ctrl-C ends it well', {
  timeout: 240_000,
}, async () => {
  const before = await byNpm('status')
  expect(before.code).toBe(3)
  expect(kept(before.text)).toMatchSnapshot('status before the first start')
  const daemon = await start()
  const codes: Record<string, number | null> = {}
  for (const words of looks) codes[words.join(' ')] = (await typed(...words)).code
  expect(codes).toEqual(
    Object.fromEntries(looks.map((words) => [words.join(' '), words[0] === 'subaccount' ? 4 : 0])),
  )
  await until('it trades, as the README says', () => / filled at \$/.test(daemon.said()) || undefined, {
    seen: daemon.said,
  })
  for (const words of [['--help'], ['check'], ['discrepancies'], ['limits']])
    expect(kept((await typed(...words)).text)).toMatchSnapshot(`perpd ${words.join(' ')}`)
  expect(await daemon.ctrlC()).toBe('ended well')
  expect(daemon.said()).toMatch(/stopped after/)
})

test('noon: a kind of his own opens with a stop; a close by hand is told as one, and nothing is bought back before he says so', {
  timeout: 300_000,
}, async () => {
  writeKind(
    'first',
    "return [{ ...long, tpsl: [{ type: 'stop-loss' as const, triggerPrice: (price * 90n) / 100n }] }]",
  )
  disable('eth-trend')
  expect((await typed('check', 'strategies/first.yaml')).code).toBe(0)
  const daemon = await start()
  const seen = { seen: daemon.said }
  // What the morning opened has nobody any more: he is told, and closes it.
  await until('what has no manager is told', () => /is unmanaged/.test(daemon.said()) || undefined, seen)
  const side = / (long|short) ETH\/USD .* is unmanaged/.exec(daemon.said().replace(/\s+/g, ' '))?.[1] ?? ''
  const closed = await typed('close', eth, side)
  // The side is taken out before the words are filled into lines: a long and a short fold at other words.
  expect([closed.code, kept(closed.text.replaceAll(side, 'SIDE'))]).toMatchSnapshot('perpd close')
  await until(
    'the stop rests',
    () => / is open; resting: stop-loss at /.test(daemon.said()) || undefined,
    seen,
  )
  const held = await until(
    'the position is listed',
    async () => {
      const screen = await typed('positions')
      // A list that lags is told in the place of its rows.
      return /^MARKET/.test(screen.text) ? screen : undefined
    },
    seen,
  )
  expect(kept(held.text)).toMatch(/^MARKET SIDE SIZE MARK LEV PNL EXITS OWNER/)
  expect(kept((await typed('orders')).text)).toMatch(
    /^resting\sorders\sTYPE\sMARKET\sSIDE\sTRIGGER\s[\s\S]*\sID\sSTATUS\sORDER\sSIZE\sPRICE\sID\sfilled\sincrease\slong\sETH\/USD\s\[WETH-USDC\]\s\$N\s\$N\stype\smarket,\sfees\s\$N,\sTIME,\sowner\sfirst\s(?:not\sfinal\syet;\s)?the\sfirst\sday\sresting\sstop-loss\s\$N\strigger\s\$N/,
  )
  expect(kept((await typed('trades')).text)).toMatch(
    /^FILLED \(UTC\) MARKET TRADE SIZE PRICE FEES PNL TIME ETH\/USD increase \$N \$N \$N \[WETH-USDC\] long/,
  )
  const id = /\b[0-9a-f]{8}\b/.exec((await typed('orders')).text)?.[0] ?? ''
  expect((await typed('explain', id)).text).toMatch(/stop-loss/)

  const opened = async () => (await typed('orders')).text.match(/increase (?:long|short)/g)?.length ?? 0
  const before = await opened()
  await closeByHand(daemon.said())
  const found = await until(
    'the close is found',
    async () => {
      const screen = await typed('discrepancies')
      return screen.text.startsWith('No discrepancies') ? undefined : screen
    },
    seen,
  )
  expect(found.text).not.toMatch(/delever/i)
  expect(kept(found.text)).toMatchSnapshot('perpd discrepancies after a close by hand')
  const discrepancy = /^\s*([0-9a-f]{8,})\b/m.exec(found.text)?.[1] ?? ''
  expect(await opened()).toBe(before)
  expect((await typed('discrepancies', 'adopt', discrepancy, '--by', 'ann')).code).toBe(0)
  await until('it trades again', async () => (await opened()) > before || undefined, seen)
  process.kill(daemon.pid(), 'SIGKILL')
  await daemon.ended
})

test('afternoon: started again it resumes; each mistake in a kind is told once and harms nobody else', {
  timeout: 300_000,
}, async () => {
  writeKind('typo', 'return [{ ...long, stopLoss: 5 } as never]')
  writeKind('nan', 'return [{ ...long, sizeDeltaUsd: Number.NaN as never }]')
  writeKind('loops', 'for (;;) {}')
  writeKind('leaves', 'process.exit(0)')
  const market = (name: string) => {
    const path = join(checkout, 'strategies', `${name}.yaml`)
    writeFileSync(path, readFileSync(path, 'utf8').replace(eth, 'BTC/USD [BTC-USDC]'))
  }
  for (const name of ['typo', 'nan', 'loops', 'leaves']) market(name)
  const daemon = await start('--strategies.decideTimeoutMs=3000', '--strategies.pauseAfterFailures=3')
  const flat = () => daemon.said().replace(/\s+/g, ' ')
  expect(flat()).toMatch(/resumed from \d+ records of \d+ orders?/)
  const wanted = {
    typo: /typo: strategies\/typo\.ts:\d+: .*?did you mean tpsl.*?\(DECISION_INVALID\)/,
    nan: /nan: strategies\/nan\.ts:\d+ or \d+: the decision's sizeDeltaUsd is NaN;.*?\(DECISION_INVALID\)/,
    loops: /loops failed .*?strategies\/loops\.ts:\d+: it did not answer within 3000 ms/,
    leaves: /leaves failed .*?process\.exit\(0\)/,
  }
  for (const [name, words] of Object.entries(wanted)) {
    await until(`${name} is told`, () => words.test(flat()) || undefined, { seen: daemon.said })
    // Where it hangs is looked for within a time; on a busy machine the place where `decide` begins is told in its place.
    const told = words.exec(flat())?.[0] ?? ''
    const anyPlace = name === 'loops' ? told.replace('decide, which begins at ', '') : told
    expect(kept(anyPlace)).toMatchSnapshot(`the mistake ${name}`)
  }
  await until('all four pause', () => (flat().match(/ pauses for /g)?.length ?? 0) >= 4 || undefined, {
    seen: daemon.said,
  })
  const { text } = await typed('strategies')
  expect(text).toMatch(/^guard .* enabled/m)
  expect(text.match(/ paused /g)).toHaveLength(4)

  const key = await typed('keys', 'new', '--file', 'k.json', '--password-fd', '3')
  expect([key.code, kept(key.text)]).toMatchSnapshot('keys new with a descriptor that is not open')
  const halted = await typed('trading', 'halted', '--scope', 'first')
  expect(halted.code).toBe(0)
  expect(kept((await typed('trading', 'active')).text)).toMatchSnapshot(
    'trading active while a scope is halted',
  )
  expect((await typed('trading', 'active', '--scope', 'first')).code).toBe(0)
  expect(await daemon.ctrlC()).toBe('ended well')
  expect((await typed('journal', 'verify')).code).toBe(0)
})
