/** Orders by hand, and the commands that look around, against the real daemon and the paper venue over sockets. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { exitCodes } from '../../src/config/exit.ts'
import { folderEach } from './folderEach.ts'
import { type Operated, operatedIn, type Status } from './operated.ts'
import { ordersOf, type PaperHosts, perpd, startPaper, until } from './processes.ts'

let own: Operated
const folder = folderEach(async (path) => {
  own = await operatedIn(path)
  // A strategy that does not run: whatever happens is by hand.
  writeFileSync(
    join(path, 'once.yaml'),
    'kind: trend\nenabled: false\nmarket: ETH/USD [WETH-USDC]\nsize: { usd: 500, leverage: 2, collateral: short }\n',
  )
})

const eth = 'ETH/USD [WETH-USDC]'
const isRunning = ({ state }: Status): boolean => state === 'running'

/** A command to its end: all that it said, as one line, and its standard output as it stands. */
async function asked(hosts: PaperHosts, ...words: string[]) {
  const running = perpd([...words, ...own.flags(hosts)], { env: { COLUMNS: '80' } })
  const code = await running.ended
  return { code, said: running.said().replaceAll(/\s+/g, ' '), out: running.stdout() }
}

const main = resolve(import.meta.dirname, '..', 'support', 'guardedMain.ts')
const hasPty = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** What a command shows at a terminal where somebody types an answer to its question. */
async function typed(words: readonly string[], answer: string): Promise<string> {
  const line = [process.execPath, main, ...words].map((word) => `'${word}'`).join(' ')
  const terminal = spawn('script', ['-qec', `exec ${line}`, '/dev/null'], { cwd: folder.path })
  let shown = ''
  let isAnswered = false
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    if (isAnswered || !shown.includes('Type y or yes: ')) return
    isAnswered = true
    terminal.stdin.end(`${answer}\n`)
  })
  await once(terminal, 'close')
  return shown
}

test('an order by hand is made once, though the daemon is killed -9 right after it was signed, and is asked again', {
  timeout: 240_000,
}, async () => {
  const { hosts } = await startPaper()
  const order = ['open', eth, 'long', '--size=500', '--leverage=2', '--yes', '--id=once-1']
  const absent = await asked(hosts, 'positions')
  expect([absent.code, absent.said]).toEqual([3, expect.stringContaining('Start it with: perpd run')])

  const first = perpd(['run', ...own.flags(hosts)], { killAt: 'attempt.armed:after' })
  await own.when('the first daemon runs', first, isRunning)
  const cut = await asked(hosts, ...order)
  expect(await first.ended).toBe('SIGKILL')
  expect(cut.code).not.toBe(0)
  expect(cut.said).toContain('--id once-1')

  const second = perpd(['run', ...own.flags(hosts)])
  await own.when('the second daemon runs', second, isRunning)
  const again = await asked(hosts, ...order, '--no-wait')
  expect(again.said).toContain('perpd does not repeat it')
  const other = await asked(hosts, ...order.map((word) => (word === '--size=500' ? '--size=600' : word)))
  expect([other.code, other.said]).toEqual([1, expect.stringContaining('(ID_USED)')])
  const made = (await ordersOf(folder.path)).filter(({ strategy }) => strategy === '@operator')
  expect(made).toHaveLength(1)
  // Signed before the kill, and never sent: it ends by its deadline, or it landed once.
  const status = await own.status()
  expect(status?.positions.length ?? 0).toBeLessThanOrEqual(1)
})

test('a user opens, looks around at 80 columns, is refused beyond a limit, cancels, and closes in spite of a halt', {
  timeout: 400_000,
}, async () => {
  const { hosts } = await startPaper()
  const daemon = perpd(['run', ...own.flags(hosts)])
  await own.when('the daemon runs', daemon, isRunning)

  const opened = await asked(hosts, 'open', eth, 'long', '--size=500', '--leverage=2', '--yes', '--by=ann')
  expect([opened.code, opened.said]).toEqual([0, expect.stringContaining('all, to open')])
  expect(opened.said).toContain('unmanaged')
  expect(opened.said).toMatch(/order \w+ is executed at \$/)

  const over = await asked(hosts, 'open', eth, 'long', '--size=900000', '--leverage=2', '--yes')
  expect([over.code, over.said]).toEqual([
    1,
    expect.stringMatching(/perpd refuses: .*asked: \$900,000\.00.*\(SIZE_NOT_WHOLE\)/),
  ])
  const steep = await asked(hosts, 'open', eth, 'long', '--size=500', '--leverage=90', '--yes')
  expect([steep.code, steep.said.replace(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringContaining('perpd refuses: leverage 90x; risk.maxLeverage allows 10x (MAX_LEVERAGE)'),
  ])
  // Neither size nor leverage is asked for before the market is known.
  for (const flags of [[], ['--size=500'], ['--size=500', '--leverage=2', '--yes']]) {
    const mistyped = await asked(hosts, 'open', 'ETHH/USD', 'long', ...flags)
    expect([mistyped.code, mistyped.said.replace(/\s+/g, ' ')]).toEqual([
      exitCodes.notFound,
      expect.stringContaining(
        'perpd refuses: the venue lists no market ETHH/USD; did you mean ETH/USD? (MARKET_UNKNOWN)',
      ),
    ])
  }
  const unsure = await asked(hosts, 'open', eth, 'long', '--size=500', '--leverage=2')
  // What would be sent is shown before it is refused.
  expect([unsure.code, unsure.said]).toEqual([
    1,
    expect.stringMatching(
      /open long ETH\/USD.* about \$.* of slippage.*expected.*at most.*To send it: --yes/,
    ),
  ])

  if (hasPty) {
    const order = ['open', eth, 'long', '--size=500', '--leverage=2', ...own.flags(hosts)]
    const answered = await typed(order, 'no')
    expect(answered).toContain('Send it? Type y or yes: ')
    expect(answered).toContain('Nothing was sent.')
    const kept = await typed(['close', eth, 'long', ...own.flags(hosts)], 'ye')
    expect(kept).toContain('close       all of the long ')
    for (const name of ['expected    about $', 'at worst    a fill at $']) expect(kept).toContain(name)
    expect(kept).toContain('Nothing was sent.')
  }

  const resting = await asked(
    hosts,
    'open',
    eth,
    'short',
    '--size=300',
    '--leverage=2',
    '--limit=90000',
    '--far',
    '--yes',
    '--json',
  )
  const { intentId, order } = JSON.parse(resting.out) as {
    intentId: string
    order: { standing: string; legs: { orderKey: string }[] }
  }
  expect([resting.code, order.standing]).toEqual([0, 'resting'])
  const cancelled = await asked(hosts, 'cancel', intentId.slice(0, 8), '--by=ann')
  expect([cancelled.code, cancelled.said]).toEqual([0, expect.stringContaining('cancel 1 order of short')])
  expect(cancelled.said).toContain(
    `the resting part of order ${intentId.slice(0, 8)} is cancelled, by order `,
  )

  // It is the operator's own: told as that, with no warning, and asked once more it is no mistake.
  const ended = `${intentId.slice(0, 8)} is cancelled as ann asked (order `
  await until('its end is told', () => daemon.said().includes(ended) || undefined, { seen: daemon.said })
  const lines = daemon
    .stdout()
    .split('\n')
    .filter((line) => line.includes(intentId))
  expect(lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([])
  const again = await asked(hosts, 'cancel', intentId.slice(0, 8))
  expect([again.code, again.said]).toEqual([0, expect.stringContaining('is already cancelled')])
  const byKey = await asked(hosts, 'cancel', order.legs[0]?.orderKey ?? '')
  expect([byKey.code, byKey.said]).toEqual([0, expect.stringContaining('is already cancelled')])
  const filled = await asked(hosts, 'cancel', /order (\w+) is executed/.exec(opened.said)?.[1] ?? '')
  expect([filled.code, filled.said]).toEqual([1, expect.stringContaining('(ORDER_ENDED)')])
  const rows = await asked(hosts, 'orders')
  expect(rows.out).toMatch(/cancel short ETH\/USD \[WETH-USDC\] +-$/m)
  expect(rows.said).toContain('cancelled as ann asked (order ')
  expect(rows.said).not.toMatch(/keeper|\$0\.00/)

  const looks: readonly (readonly [words: readonly string[], shows: string, field: string])[] = [
    [['positions'], 'no strategy', 'managers'],
    [['balance'], 'USDC', 'walletUsd'],
    [['trades'], 'increase', 'executionPrice'],
    [['strategies'], '@operator', 'lastDecision'],
    [['markets', '--search', 'eth'], 'BORROW/H', 'capacityLongUsd'],
    [['logs', '--level', 'info'], 'ready', 'seq'],
  ]
  for (const [words, shows, field] of looks) {
    const text = await asked(hosts, ...words)
    expect([words, text.code]).toEqual([words, 0])
    expect(text.said).toContain(words[0] === 'positions' ? '$500.00' : shows)
    const tooLong = text.out.split('\n').filter((line) => line.length > 80 && / .* /.test(line.trim()))
    expect([words, tooLong]).toEqual([words, []])
    const json = await asked(hosts, ...words, '--json')
    expect([words, json.code, json.out]).toEqual([words, 0, expect.stringContaining(`"${field}"`)])
  }

  expect((await asked(hosts, 'trading', 'halted', '--by=ann')).code).toBe(0)
  const held = await asked(hosts, 'open', eth, 'long', '--size=500', '--leverage=2', '--yes')
  expect([held.code, held.said]).toEqual([1, expect.stringContaining('(TRADING_HALTED)')])
  const half = await asked(hosts, 'close', 'ETH', 'long', '--share=50', '--id=half-1')
  expect([half.code, half.said]).toEqual([0, expect.stringContaining('$250.00 of the long')])
  const halfAgain = await asked(hosts, 'close', 'ETH', 'long', '--share=50', '--id=half-1')
  expect([halfAgain.code, halfAgain.said]).toEqual([0, expect.stringContaining('perpd does not repeat it')])
  const rest = await asked(hosts, 'close', 'ETH', 'long')
  expect(rest.code, rest.said).toBe(0)
  const none = await asked(hosts, 'close', 'ETH', 'short')
  expect([none.code, none.said]).toEqual([2, expect.stringContaining('POSITION_NOT_FOUND')])
  const kinds = (await ordersOf(folder.path))
    .filter(({ strategy }) => strategy === '@operator')
    .map(({ kind }) => kind)
  expect(kinds.toSorted()).toEqual(['cancel', 'close', 'decrease', 'increase', 'increase'])
  const told = await asked(hosts, 'explain', intentId)
  expect([told.code, told.said]).toEqual([0, expect.stringContaining('@operator')])
  const checked = await asked(hosts, 'check', join(folder.path, 'once.yaml'))
  expect([checked.code, checked.said]).toEqual([0, expect.stringContaining('All checks passed.')])
})

test('close --all closes every position after one question, in spite of a halt, and says what became of each', {
  timeout: 240_000,
}, async () => {
  const { hosts } = await startPaper()
  const daemon = perpd(['run', ...own.flags(hosts)])
  await own.when('the daemon runs', daemon, isRunning)
  const none = await asked(hosts, 'close', '--all', '--yes')
  expect([none.code, none.said]).toEqual([0, expect.stringContaining('No open positions')])
  // Right after a fill the list of positions may not show it: what is held is closed all the same.
  const quick = await asked(
    hosts,
    'open',
    'LTC/USD [WETH-USDC]',
    'long',
    '--size=60',
    '--leverage=2',
    '--yes',
  )
  expect(quick.code, quick.said).toBe(0)
  const atOnce = await asked(hosts, 'close', '--all', '--yes')
  expect([atOnce.code, atOnce.said]).toEqual([0, expect.stringContaining('1 of 1 position closed.')])
  for (const words of [
    [eth, 'long'],
    ['BTC/USD [BTC-USDC]', 'short'],
  ]) {
    const opened = await asked(hosts, 'open', ...words, '--size=400', '--leverage=2', '--yes')
    expect(opened.code, opened.said).toBe(0)
  }
  await own.when('both are listed', daemon, ({ positions }) => positions.length === 2)
  await asked(hosts, 'trading', 'halted', '--by=ann')
  const bare = await asked(hosts, 'close')
  expect([bare.code, bare.said]).toEqual([4, expect.stringContaining('perpd close --all')])
  const both = await asked(hosts, 'close', eth, 'long', '--all', '--yes')
  expect([both.code, both.said]).toEqual([4, expect.stringContaining('leave out market')])
  const unsure = await asked(hosts, 'close', '--all')
  expect([unsure.code, unsure.said]).toEqual([
    1,
    expect.stringMatching(/CLOSE SIZE PNL COST .*To send them: --yes/),
  ])
  if (hasPty) {
    const answered = await typed(['close', '--all', ...own.flags(hosts)], 'no')
    expect(answered).toMatch(/long ETH\/USD \[WETH-USDC\] +\$400\.00/)
    expect(answered).toContain('perpd kill --close')
    expect(answered).toContain('Nothing was sent.')
  }
  const half = await asked(hosts, 'close', '--all', '--share=50', '--yes', '--json', '--id=half')
  const rows = JSON.parse(half.out) as { order: { sizeDeltaUsd: string; outcome: string } }[]
  expect(rows.map(({ order }) => [order.sizeDeltaUsd, order.outcome])).toEqual(
    [0, 1].map(() => [String(200n * 10n ** 30n), 'EXECUTED']),
  )
  const again = await asked(hosts, 'close', '--all', '--share=50', '--yes', '--id=half')
  expect([again.code, again.said]).toEqual([0, expect.stringContaining('2 of 2 positions reduced.')])
  await own.when('both are listed as half', daemon, ({ positions }) =>
    positions.every(({ sizeInUsd }) => sizeInUsd === String(200n * 10n ** 30n)),
  )
  const closed = await asked(hosts, 'close', '--all', '--yes', '--by=ann')
  expect([closed.code, closed.said]).toEqual([0, expect.stringContaining('2 of 2 positions closed.')])
  expect(closed.said.match(/is executed at \$/g)).toHaveLength(2)
  await own.when('nothing is held', daemon, ({ positions }) => positions.length === 0)
  const kinds = (await ordersOf(folder.path)).map(({ kind }) => kind)
  expect(kinds.toSorted()).toEqual([
    ...['close', 'close', 'close', 'decrease', 'decrease'],
    ...['increase', 'increase', 'increase'],
  ])
})
