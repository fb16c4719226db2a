/**
 * Commands at a real terminal (tmux), of the smallest usual size and of a large one: what a trader looks for is on the first screen, no line breaks,
 * and questions take the answers that they name. The daemon holds a position, resting exits and a task; ETH stands at $2,000.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/systemClock.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { bareEnv } from '../support/bareEnv.ts'
import { type Operated, operatedIn } from './operated.ts'
import { killLeftOver, ordersOf, perpd, scratch, until } from './processes.ts'

const hasTmux = spawnSync('tmux', ['-V']).status === 0
const main = resolve(import.meta.dirname, '../support/guardedMain.ts')
const eth = 'ETH/USD [WETH-USDC]'
const sizes = [
  [80, 24],
  [200, 50],
] as const

let folder: ReturnType<typeof scratch>
let own: Operated
let served: ServedVenue
/** tmux with a server of this test. */
const tmux = (...words: string[]): string =>
  execFileSync('tmux', ['-L', `perpd-${process.pid}`, '-f', join(folder.path, 'tmux.conf'), ...words], {
    encoding: 'utf8',
    env: bareEnv({ TERM: 'xterm', NO_COLOR: '1' }),
  })

beforeAll(async () => {
  if (!hasTmux) return
  folder = scratch()
  own = await operatedIn(folder.path)
  writeFileSync(join(folder.path, 'tmux.conf'), 'set -g status off\n')
  writeFileSync(join(folder.path, 'once.yaml'), 'kind: protector\nmarket: BTC/USD [BTC-USDC]\n')
  const price = usd(2_000)
  const standing = [{ startSeconds: 0, open: price, high: price, low: price, close: price }]
  const venue = createVenue({
    ...{ clock: systemClock, chain: arbitrum, seed: 7, epochSeconds: Math.floor(Date.now() / 1_000) },
    settings: {
      ...{ keeperDelayMs: 300, keeperJitterMs: 0, relayDelayMs: 150, traders: 1 },
      replay: { series: new Map([['ETH', standing]]), speed: 1 },
    },
  })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 50 })
  const daemon = perpd(['run', ...own.flags(served)])
  await own.when('it runs', daemon, ({ state }) => state === 'running')
  const said = async (...words: string[]): Promise<void> => {
    const { code, said } = await own.command(served, ...words, '--by', 'ann')
    expect(code, said).toBe(0)
  }
  await said('open', eth, 'long', '--size', '500', '--leverage', '2', '--stop-loss', '5%', '--yes')
  const chase = ['task', 'start', 'chase', eth, 'short', '--size', '3000', '--leverage', '2']
  await said(...chase, '--price', '2100', '--minutes', '600', '--offset', '2%', '--yes', '--id', 'chase-1')
  const isShown = async () => {
    const status = (await own.status()) as { readonly restingOrders?: readonly unknown[] } | undefined
    return (status?.restingOrders?.length ?? 0) >= 2 || undefined
  }
  await until('its orders rest', isShown, { seen: daemon.said })
}, 180_000)
afterAll(async () => {
  if (!hasTmux) return
  spawnSync('tmux', ['-L', `perpd-${process.pid}`, 'kill-server'])
  await killLeftOver()
  await served.close()
  folder.remove()
})

let sessions = 0
/** A command at a terminal of its own. */
function atTerminal(words: readonly string[], [columns, rows]: readonly [number, number] = [80, 24]) {
  sessions += 1
  const name = `s${sessions}`
  const line = [process.execPath, main, ...words, ...own.flags(served)].map((word) => `'${word}'`).join(' ')
  tmux(
    'new-session',
    '-d',
    '-s',
    name,
    '-c',
    folder.path,
    '-x',
    `${columns}`,
    '-y',
    `${rows}`,
    `${line}; echo "exit code $?"; exec cat`,
  )
  const screen = (): string => tmux('capture-pane', '-p', '-t', name)
  const whole = (): string => tmux('capture-pane', '-p', '-S', '-', '-t', name)
  const joined = (): string => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', name)
  const code = (): number | undefined => {
    const [, status] = /^exit code (\d+)$/m.exec(whole().replaceAll(/ +$/gm, '')) ?? []
    return status === undefined ? undefined : Number(status)
  }
  return {
    screen,
    whole,
    joined,
    type: (...keys: string[]) => void tmux('send-keys', '-t', name, ...keys),
    shows: (text: string | RegExp) =>
      until(
        `it shows ${text}`,
        () => (new RegExp(text).test(whole().replaceAll(/\s+/g, ' ')) ? true : undefined),
        {
          timeoutMs: 60_000,
          seen: whole,
        },
      ),
    ended: () => until('it ends', code, { timeoutMs: 60_000, seen: whole }),
  }
}

/** What a command left on its screen, without the code that is printed behind it. */
function alive(text: string): string {
  return text
    .replaceAll(/ +$/gm, '')
    .replace(/\n*exit code \d+\s*$/, '')
    .trimEnd()
}

/** The head and the tables of a screen, without what differs between runs: digits, times, ids and the width of columns. */
function steady(text: string): string {
  const blocks = alive(text).split(/\n[ \n]*\n/)
  const isTable = (block: string) => /^ *[A-Z]{2,} +[A-Z]{2,}/m.test(block)
  return blocks
    .filter((block, place) => isTable(block) || (place === 0 && /^perpd/.test(block)))
    .map((block) =>
      block
        // The venue lists it, or it is on its way there.
        .replaceAll(/rests at (?:the venue|\$[\d,.]+)/g, 'rests at <place>')
        .replaceAll(/0x[\da-fA-F]+(…[\da-fA-F]+)?/g, '<key>')
        .replaceAll(/\b(?=[\da-f]*\d)[\da-f]{8}\b/g, '<id>')
        .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, '<time>')
        .replaceAll(/\d+(?:\.\d+)? (?:ms|s|min|h|days?)\b(?: \d+ (?:s|min|h)\b)?/g, '<span>')
        // For a moment after a fill the equity is older than the lists.
        .replaceAll(/\s+\(<span> old:\s+lists\s+are\s+settling\)/g, '')
        .replaceAll(/\d[\d,.]*/g, '0')
        // A small amount is a gain at one moment and a loss at the next.
        .replaceAll('-$', '$')
        // The age is the last column, and there where it fits.
        .replaceAll(/ +(?:AGE|<span>) *$/gm, '')
        .replaceAll(/ +/g, ' ')
        .replaceAll(/ +$/gm, ''),
    )
    .join('\n\n')
}

const looks = [
  ['status'],
  ['orders'],
  ['positions'],
  ['task', 'list'],
  ['markets', '--search', 'BTC'],
] as const

test.skipIf(!hasTmux).each(sizes)(
  'at %i by %i each look is whole: nothing wraps, and the answer is on the first screen',
  async (columns, rows) => {
    for (const words of looks) {
      const terminal = atTerminal([...words], [columns, rows])
      expect(await terminal.ended(), terminal.whole()).toBe(0)
      const all = alive(terminal.whole())
      // Lines that the terminal broke itself are joined again by -J.
      expect([words, alive(terminal.joined())]).toEqual([words, all])
      if (words[0] !== 'markets') expect(all.split('\n').slice(0, rows).join('\n')).toContain('ETH/USD')
      expect(steady(all)).toMatchSnapshot(`${words.join(' ')} at ${columns}`)
    }
  },
)

test.skipIf(!hasTmux).each(sizes)(
  'at %i by %i top has position, stop and task on its first screen, pages by its keys, and gives the terminal back',
  async (columns, rows) => {
    const terminal = atTerminal(['top', '--every', '0.5'], [columns, rows])
    await terminal.shows('q ends')
    const first = terminal.screen()
    for (const text of ['ETH/USD', '$1,900', 'chase', 'today']) expect(first).toContain(text)
    expect(first.split('\n').filter((line) => line.length > columns)).toEqual([])
    const isLong = /lines \d+ to \d+ of/.test(first)
    expect(isLong).toBe(rows === 24)
    if (isLong) {
      terminal.type('G')
      await terminal.shows('lines (?:[2-9]|\\d\\d) to')
      terminal.type('g')
      await terminal.shows('lines 1 to')
    }
    // How many lines the day's parts take hangs on their digits, and with them what follows on a first page.
    const kept = isLong ? steady(first).split('\n\nstrategies')[0] : steady(first)
    expect(kept).toMatchSnapshot(`top at ${columns}`)
    terminal.type('q')
    expect(await terminal.ended()).toBe(0)
  },
)

/** A short symbol of which two pools are near to each other in capacity, by the daemon's own refusal. */
async function ambiguousSymbol(): Promise<string> {
  const token = (name: string) => readFileSync(join(folder.path, name), 'utf8').trim()
  const port = `http://127.0.0.1:${own.port}`
  const listed = (await (
    await fetch(`${port}/api/markets`, {
      headers: { authorization: `Bearer ${token('control.token.read')}` },
    })
  ).json()) as readonly { readonly symbol: string }[]
  const shorts = listed.map(({ symbol }) => symbol.split('/')[0] ?? '')
  for (const market of new Set(shorts.filter((name, at) => shorts.indexOf(name) !== at))) {
    const body = {
      id: `p-${market}`,
      market,
      direction: 'long',
      size: '100',
      leverage: '2',
      preview: true,
      by: 'ann',
    }
    const answer = await fetch(`${port}/api/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token('control.token')}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { error } = (await answer.json()) as { readonly error?: string }
    if (error === 'MARKET_AMBIGUOUS') return market
  }
  throw new Error('every short symbol has one pool, or one that is much deeper')
}

test.skipIf(!hasTmux)(
  'pools of a short symbol are asked for by number, a price far away by a question of its own, and y sends',
  { timeout: 300_000 },
  async () => {
    const before = (await ordersOf(folder.path)).length
    const market = await ambiguousSymbol()
    const pools = atTerminal(['open', market, 'long', '--size', '100', '--leverage', '2'])
    await pools.shows('Type a number:')
    for (const number of [1, 2])
      expect(pools.whole()).toMatch(
        new RegExp(
          `^ +${number} +${market}/USD \\[[^\\]]+\\], .* free, costs about \\$[\\d.]+ to open$`,
          'm',
        ),
      )
    pools.type('2', 'Enter')
    await pools.shows('Send it\\? Type y or yes:')
    pools.type('n', 'Enter')
    expect(await pools.ended()).toBe(1)
    expect(pools.whole()).toContain('Nothing was sent.')

    const none = atTerminal(['open', market, 'long', '--size', '100', '--leverage', '2'])
    await none.shows('Type a number:')
    none.type('9', 'Enter')
    expect(await none.ended()).toBe(1)
    expect(none.whole()).toContain('(MARKET_AMBIGUOUS)')
    expect((await ordersOf(folder.path)).length).toBe(before)

    const far = atTerminal(['open', eth, 'long', '--size', '100', '--leverage', '2', '--limit', '1500'])
    await far.shows('\\$1,500\\.00 is 25(?:\\.\\d+)?% from \\$2,000')
    await far.shows('Send it all the same\\? Type y or yes:')
    far.type('y', 'Enter')
    expect(await far.ended(), far.whole()).toBe(0)
    expect(far.whole()).toMatch(/is resting/)

    const dear = atTerminal([
      'task',
      'start',
      'twap',
      eth,
      'long',
      '--size',
      '200',
      '--parts',
      '4',
      '--minutes',
      '4',
      '--own',
      '--leverage',
      '2',
    ])
    await dear.shows('Its fees may reach \\$[\\d.,]+\\. Start it all the same\\? Type y or yes:')
    dear.type('y', 'Enter')
    expect(await dear.ended(), dear.whole()).toBe(0)
    expect(dear.whole()).toMatch(/task twap:\w+ started/)
  },
)
