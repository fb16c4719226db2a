/** What each command puts on a screen: a real daemon on the paper venue, and every command as a process at 80 columns and at 140. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commands } from '../../src/cli/commandTable.ts'
import { main } from '../../src/cli/main.ts'
import { killLeftOver, perpd, type Running, scratch, until, venueOf, writeOnceStrategy } from './processes.ts'

const folder = scratch()
const own = [
  '--control.port=0',
  `--journal.path=${join(folder.path, 'j.db')}`,
  `--strategies.paths=${join(folder.path, 'once.yaml')}`,
]
let daemon: Running

interface Screen {
  readonly code: unknown
  readonly text: string
  readonly lines: readonly string[]
}

async function screen(words: readonly string[], columns: number, flags = own): Promise<Screen> {
  const running = perpd([...words, ...flags], { cwd: folder.path, env: { COLUMNS: String(columns) } })
  const code = await running.ended
  const text = running.said()
  return { code, text, lines: text.split('\n') }
}

/** The same by the command line in this process: what a screen of any width would say. */
async function toldAt(argv: readonly string[], width: number, env = {}): Promise<Screen> {
  const said: string[] = []
  const take = (text: string) => void said.push(text)
  const code = await main(argv, { env, cwd: folder.path, width, out: take, err: take })
  const text = said.join('\n')
  return { code, text, lines: text.split('\n') }
}

/** Lines wider than the screen; a single word that nothing could shorten stays whole. */
function tooWide({ lines }: Screen, columns: number): string[] {
  return lines.filter((line) => line.length > columns && line.trim().includes(' '))
}

/** Words of a screen, in order. */
function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

beforeAll(async () => {
  writeOnceStrategy(folder.path)
  writeFileSync(join(folder.path, 'bad.yaml'), 'kind: trend\nmarket: ETH/USDD\nsise: 5\n')
  daemon = perpd(['run', '--log.format=pretty', ...own], { cwd: folder.path, env: venueOf([]) })
  await until('its order is executed', () => (/ is done: /.test(daemon.said()) ? true : undefined), {
    seen: daemon.said,
  })
})

afterAll(async () => {
  await killLeftOver()
  folder.remove()
})

const looks: readonly (readonly string[])[] = [
  ['status'],
  ['orders'],
  ['positions'],
  ['trades'],
  ['trades', '--round-trips'],
  ['pnl'],
  ['balance'],
  ['strategies'],
  ['strategies', 'describe'],
  ['strategies', 'describe', 'trend'],
  ['strategies', 'test', 'once.yaml'],
  ['logs'],
  ['discrepancies'],
  ['discrepancies', '--all'],
  ['limits'],
  ['trading'],
  ['markets'],
  ['check'],
  ['check', '--profile', 'arbitrum'],
  ['config'],
  ['journal', 'verify'],
  ['journal'],
  ['keys'],
  ['keys', 'address', '--file', 'nowhere.json'],
  ['subaccount', 'status'],
  ['message', 'once.yaml'],
  ['init'],
  ['orders', 'resolve', 'ffff', '--as', 'dead', '--by', 'ann'],
  ['orders', 'unwind', 'ffff', '--by', 'ann'],
  ['explain', 'ffff'],
  ['trading', 'halted', '--scope', 'nobody'],
  ['nothing'],
  ['status', '--nothing', '5'],
  ['status', '--risk.maxOrderSizeUsdd', '5'],
]

test('every command and every help fits 80 columns with whole words, and says at 140 nothing less', async () => {
  const id = /\b[0-9a-f]{8}\b/.exec((await screen(['orders'], 80)).text)?.[0] ?? 'none'
  const problems: string[] = []
  // A few at a time: the narrow one of each is a process.
  const asked = [...looks, ['explain', id]]
  const at: { words: readonly string[]; narrow: Screen; wide: Screen }[] = []
  const each = async (): Promise<void> => {
    for (let words = asked.shift(); words !== undefined; words = asked.shift()) {
      const narrow = await screen(words, 80)
      // A key's file is looked for from where the process is.
      const isFromHere = words[0] === 'keys'
      const wide = isFromHere
        ? await screen(words, 1_000)
        : await toldAt([...words, ...own], 1_000, process.env)
      at.push({ words, narrow, wide })
    }
  }
  await Promise.all([each(), each(), each()])
  for (const { words, narrow, wide } of at) {
    problems.push(...tooWide(narrow, 80).map((line) => `${words.join(' ')} at 80: ${line}`))
    // A word that a narrow screen cut in two is not among those of a wide one.
    const whole = new Set(wordsOf(wide.text.replace(/[,:;.]+(?=\s|$)/g, '')))
    const isLive = [
      'status',
      'journal',
      'trading',
      'config',
      'markets',
      'positions',
      'balance',
      'logs',
      'strategies',
    ].includes(words[0] ?? '')
    // What columns a narrow screen leaves out is told there alone.
    const told = narrow.text.replace(/Not shown in 80 columns:[\s\S]*?--json\./, '')
    const cut = wordsOf(told.replace(/[,:;.]+(?=\s|$)/g, '')).filter((word) => !whole.has(word))
    if (!isLive && words[0] !== 'orders' && words[0] !== 'init') {
      problems.push(...cut.map((word) => `${words.join(' ')}: ${word} is on the narrow screen alone`))
    }
    if (narrow.code !== wide.code)
      problems.push(`${words.join(' ')} ends with ${narrow.code} and ${wide.code}`)
  }
  for (const { name } of [...commands, { name: '' }]) {
    const argv = [...name.split(' '), '--help'].filter((word) => word !== '')
    const help = await toldAt(argv, 80)
    expect([name, help.code]).toEqual([name, 0])
    problems.push(...tooWide(help, 80).map((line) => `${argv.join(' ')} at 80: ${line}`))
  }
  expect(problems).toEqual([])
}, 240_000)

test('orders has size, price and fees in columns at 80, and at 140 when it was accepted and whose it is too', async () => {
  const narrow = await screen(['orders'], 80)
  const wide = await screen(['orders'], 140)
  expect(wordsOf(narrow.lines[0] ?? '')).toEqual(['ID', 'STATUS', 'ORDER', 'SIZE', 'PRICE', 'FEES'])
  expect(narrow.lines[1]).toMatch(
    /^[0-9a-f]{8} {2}executed {2}increase long ETH\/USD \[WETH-USDC\] +\$500\.00 +\$[\d,.]+ +\$0\.\d\d$/,
  )
  expect(narrow.lines[2]).toMatch(/^ +type market, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, owner once$/)
  expect(narrow.text.match(/UTC/g)).toHaveLength(1)
  expect(wordsOf(wide.lines[0] ?? '')).toEqual([
    ...['ID', 'STATUS', 'ORDER', 'SIZE', 'TYPE', 'PRICE', 'FEES', 'ACCEPTED', '(UTC)', 'OWNER'],
  ])
  expect(wide.lines[1]).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}once$/)
  expect(tooWide(wide, 140)).toEqual([])
}, 60_000)

test('what a trader reads has no hash in it; explain keeps them where it tells the evidence', async () => {
  const hash = /0x[0-9a-f]{64}/
  for (const words of [['status'], ['orders'], ['discrepancies'], ['journal', 'verify']]) {
    expect((await screen(words, 80)).text).not.toMatch(hash)
  }
  expect(daemon.said()).not.toMatch(hash)
  const id = /\b[0-9a-f]{8}\b/.exec((await screen(['orders'], 80)).text)?.[0] ?? 'none'
  const { text } = await screen(['explain', id], 80)
  const [story = '', evidence = ''] = text.split(/\nproof /)
  expect(story).not.toMatch(hash)
  expect(evidence).toMatch(/ids +attempt 1: request\n/)
  expect(evidence).toMatch(hash)
  expect(text.match(/UTC/g)).toHaveLength(1)
}, 60_000)
