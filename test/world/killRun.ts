/**
 * Real processes, killed with SIGKILL at random moments under load and with faults on: the daemon over a paper venue of its
 * own process. The venue's own record is the judge: no signed message twice, none that the journal does not know, and
 * every intent ends once the faults are over.
 *
 * By hand: `npm run kills -- --kills 200 --seed 7 --strategies 16 --packed`. The moments are real time's, so a run is not
 * repeated exactly; the faults and the markets are. With `--packed` both processes are those of the package as npm packs and
 * installs it, and the strategy is a user's own beside it.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Secret } from '../../src/base/secret.ts'
import { labelOf } from '../../src/domain/order/intent.ts'
import type { JournalReader } from '../../src/journal/journal.ts'
import { openPostgresReader } from '../../src/journal/postgres/openPostgres.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { daemonFlags, perpd, type Running, scratch, startPaper, until, venueOf } from './processes.ts'

/** What a run showed. */
export interface KillReport {
  readonly kills: number
  /** Kills by how far the process had come. */
  readonly beforeReady: number
  readonly intents: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly received: number
  /** Received and cut off before the body was read; each is of an armed message that was not seen otherwise. */
  readonly unread: number
  readonly armedUnseen: number
  readonly receivedTwice: readonly string[]
  /** Received by the venue, unknown to the journal. */
  readonly lost: readonly string[]
  /** Intents that had not ended when the quiet time was over. */
  readonly open: readonly string[]
  readonly discrepancies: readonly string[]
  readonly seconds: number
}

const markets = [
  'ETH/USD [WETH-USDC]',
  'BTC/USD [BTC-USDC]',
  'SOL/USD [SOL-USDC]',
  'LINK/USD [LINK-USDC]',
  'ARB/USD [ARB-USDC]',
  'UNI/USD [UNI-USDC]',
  'DOGE/USD [WETH-USDC]',
  'XRP/USD [WETH-USDC]',
  'BNB/USD [BNB-USDC]',
  'AAVE/USD [AAVE-USDC]',
  'AVAX/USD [AVAX-USDC]',
  'NEAR/USD [WETH-USDC]',
  'LTC/USD [WETH-USDC]',
  'SUI/USD [WETH-USDC]',
  'OP/USD [OP-USDC]',
  'ATOM/USD [WETH-USDC]',
]
const ended = new Set(['executed', 'cancelled', 'reverted', 'failed', 'expired', 'refused'])

/** Switches of the venue that a run draws from, with what takes each back. */
export const switches: readonly (readonly [
  Readonly<Record<string, unknown>>,
  Readonly<Record<string, unknown>>,
])[] = [
  [
    { submit: '503-after-work', times: 2 },
    { submit: 'none', times: -1 },
  ],
  [
    { submit: '500-before-work', times: 2 },
    { submit: 'none', times: -1 },
  ],
  [
    { submit: 'accept-and-never-answer', times: 1 },
    { submit: 'none', times: -1 },
  ],
  [
    { relay: 'fails', relayPercent: 50 },
    { relay: 'none', relayPercent: 100 },
  ],
  [
    { relay: 'lands-late', relayLateMs: 2_000, relayPercent: 50 },
    { relay: 'none', relayPercent: 100 },
  ],
  [
    { relayReverts: 'InvalidUserDigest', replayMs: 1_000 },
    { relayReverts: '', replayMs: 0 },
  ],
  [{ keeperExtraDelayMs: 2_000 }, { keeperExtraDelayMs: 0 }],
  [{ keeperFails: 'InsufficientReserve' }, { keeperFails: '' }],
  [{ down: ['api/1'] }, { down: [] }],
  [{ latencyMs: 150 }, { latencyMs: 0 }],
]

/** A small generator of its own, so that the draws follow the seed alone (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
}

/** The kind of these files. */
export const ownKind = join(import.meta.dirname, 'strategies', 'churn.ts')

/** Packs the project and installs it in `folder` as a user does; gives its command and a strategy kind that imports it. */
function installPacked(folder: string): { readonly program: string; readonly kind: string } {
  const root = join(import.meta.dirname, '..', '..')
  const user = join(folder, 'user')
  mkdirSync(user)
  writeFileSync(join(user, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n')
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, stdio: 'ignore' })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const tarball = join(folder, `perpd-${version}.tgz`)
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  execFileSync('npm', ['install', '--silent', '--prefer-offline', tarball], {
    cwd: user,
    env,
    stdio: 'ignore',
  })
  const kind = join(user, 'churn.ts')
  writeFileSync(kind, readFileSync(ownKind, 'utf8').replace("'#strategy'", "'perpd/strategy'"))
  return { program: join(user, 'node_modules', '.bin', 'perpd'), kind }
}

/** Writes a file for each of so many markets, with a kind that trades without end. */
export function writeStrategies(folder: string, kind: string, count: number): readonly string[] {
  return markets.slice(0, count).map((market, index) => {
    const path = join(folder, `churn-${index}.yaml`)
    writeFileSync(
      path,
      [
        `kind: ${kind}`,
        `market: ${market}`,
        'cadenceSeconds: 0.5',
        'size:',
        '  usd: 200',
        '  leverage: 2',
        '  collateral: short',
        '',
      ].join('\n'),
    )
    return path
  })
}

/** Runs it. `say` hears of progress. */
export async function killRun(
  options: {
    readonly kills: number
    readonly seed: number
    readonly lane?: 'order-chain' | 'relay'
    /** Strategies at work, each on a market of its own, 1 to 16; 4 when absent. */
    readonly strategies?: number
    /** Runs the package as npm installs it, not the source of this checkout. */
    readonly isPacked?: boolean
    /** Database that keeps the journal; the file when absent. */
    readonly journalUrl?: string
  },
  say: (text: string) => void = () => undefined,
): Promise<KillReport> {
  const startedMs = performance.now()
  const draw = random(options.seed)
  const folder = scratch()
  const installed = options.isPacked === true ? installPacked(folder.path) : undefined
  const own = installed === undefined ? {} : { program: installed.program }
  const paper = await startPaper(
    [`--paper.seed=${options.seed}`, '--paper.orderDeadlineSeconds=8', '--paper.keeperDelayMs=300'],
    { ...own, env: venueOf(markets) },
  )
  const { journalUrl } = options
  const openReader = (): JournalReader =>
    journalUrl === undefined
      ? openSqliteReader(join(folder.path, 'journal.sqlite'))
      : openPostgresReader({
          url: new Secret(journalUrl),
          account: 'kills',
          needsStandby: false,
          signatureLivesMs: 60_000,
        })
  const flags = [
    ...(journalUrl === undefined ? [] : [`--journal.url=${journalUrl}`, '--journal.account=kills']),
    ...daemonFlags(folder.path, paper.hosts).filter((flag) => !flag.startsWith('--strategies.paths')),
    ...writeStrategies(folder.path, installed?.kind ?? ownKind, options.strategies ?? 4).map(
      (path) => `--strategies.paths=${path}`,
    ),
    `--account.lane=${options.lane ?? 'order-chain'}`,
    // Relays here give up and land all the same: only the chain can tell.
    ...paper.hosts.rpc.map((url) => `--rpc.http=${url}`),
    '--risk.maxOrdersPerHour=100000',
    '--risk.attemptsPerCause=10000',
    '--risk.executionFeesPerDay=1000',
    '--risk.relayFeesPerDayUsd=100000',
    '--api.timeoutMs=1000',
  ]
  let beforeReady = 0
  let undo: Readonly<Record<string, unknown>> | undefined
  try {
    for (let kill = 0; kill < options.kills; kill += 1) {
      const running = perpd(['run', ...flags], own)
      if (kill % 2 === 0) {
        if (undo !== undefined) await post(`${paper.control}/faults`, undo)
        const chosen = switches[Math.floor(draw() * switches.length)]
        undo = chosen?.[1]
        if (chosen !== undefined) await post(`${paper.control}/faults`, chosen[0])
      }
      // One in eight dies while it starts; the others at any moment of the seconds after.
      if (draw() < 0.125) await sleep(draw() * 1_200)
      else {
        await untilReady(running)
        await sleep(draw() * 2_500)
      }
      if (!running.stdout().includes('daemon.ready')) beforeReady += 1
      running.child.kill('SIGKILL')
      const end = await running.ended
      if (end !== 'SIGKILL') throw new Error(`the daemon ended by itself with ${end}\n${running.said()}`)
      if ((kill + 1) % 10 === 0) say(`${kill + 1} of ${options.kills} kills`)
    }
    if (undo !== undefined) await post(`${paper.control}/faults`, undo)
    const last = perpd(
      ['run', ...flags.filter((flag) => !flag.startsWith('--strategies.paths')), ...restFlags(folder.path)],
      own,
    )
    await settle(last, openReader).catch((error: unknown) => say(String(error)))
    return await judge(openReader(), paper.control, {
      kills: options.kills,
      beforeReady,
      seconds: Math.round((performance.now() - startedMs) / 1000),
    })
  } finally {
    paper.child.kill('SIGTERM')
    await paper.ended
    folder.remove()
  }
}

/** Waits until every intent of a journal has ended, and stops the daemon that had them end. Throws after four minutes. */
export async function settle(last: Running, openReader: () => JournalReader): Promise<void> {
  try {
    await until(
      'every intent ended',
      async () => {
        if (!last.stdout().includes('daemon.ready')) return undefined
        const journal = openReader()
        try {
          return (await journal.intents()).every((state) => ended.has(labelOf(state))) || undefined
        } finally {
          await journal.close()
        }
      },
      { timeoutMs: 240_000, seen: last.said },
    )
  } finally {
    last.child.kill('SIGTERM')
    await last.ended
  }
}

/** Flags of the last daemon: a strategy that holds what is there and asks for nothing new on a market of its own. */
export function restFlags(folder: string): string[] {
  const path = join(folder, 'guard.yaml')
  writeFileSync(path, ['kind: guard', 'params:', '  maxLeverage: 100', ''].join('\n'))
  return [`--strategies.paths=${path}`]
}

async function untilReady(running: Running): Promise<void> {
  await until(
    'the daemon is ready or has ended',
    () => running.stdout().includes('daemon.ready') || running.child.exitCode !== null || undefined,
    { timeoutMs: 60_000, seen: running.said },
  )
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Holds a journal against the venue's own record of what it received. */
export async function judge(
  journal: JournalReader,
  control: string,
  counted: Pick<KillReport, 'kills' | 'beforeReady' | 'seconds'>,
): Promise<KillReport> {
  const answer = await fetch(`${control}/record`)
  // A submit that was cut off before the venue looked into it has no digest in the record; its signature tells it.
  const rows = (await answer.json()) as readonly {
    readonly signature: string | null
    readonly digest: string | null
  }[]
  // One that was cut off before its body was read has neither: it is held against the count of what was armed.
  const received = rows.flatMap(({ signature, digest }) => (signature ?? digest)?.toLowerCase() ?? [])
  try {
    const states = await journal.intents()
    const known = new Set(
      states.flatMap(({ attempts }) => attempts.flatMap(({ armed }) => armed?.signature.toLowerCase() ?? [])),
    )
    const outcomes: Record<string, number> = {}
    for (const { closing } of states) {
      const name = closing?.outcome ?? 'OPEN'
      outcomes[name] = (outcomes[name] ?? 0) + 1
    }
    return {
      ...counted,
      intents: states.length,
      outcomes,
      received: rows.length,
      unread: rows.length - received.length,
      armedUnseen: [...known].filter((name) => !received.includes(name)).length,
      receivedTwice: received.filter((name, index) => received.indexOf(name) !== index),
      lost: received.filter((name) => !known.has(name)),
      open: states.filter(({ closing }) => closing === undefined).map(({ intent }) => intent.intentId),
      discrepancies: [...(await journal.account()).discrepancies.values()].map(
        ({ discrepancy }) => discrepancy.statement,
      ),
    }
  } finally {
    await journal.close()
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '200' },
      seed: { type: 'string', default: '7' },
      lane: { type: 'string', default: 'order-chain' },
      strategies: { type: 'string', default: '4' },
      packed: { type: 'boolean', default: false },
    },
  })
  const lane = values.lane === 'relay' ? 'relay' : 'order-chain'
  const report = await killRun(
    {
      kills: Number(values.kills),
      seed: Number(values.seed),
      lane,
      strategies: Number(values.strategies),
      isPacked: values.packed,
    },
    (text) => process.stderr.write(`${text}\n`),
  )
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
  const isGood =
    report.receivedTwice.length + report.lost.length + report.open.length + report.discrepancies.length ===
      0 && report.unread <= report.armedUnseen
  process.exitCode = isGood ? 0 : 1
}
