/**
 * The runbook on paper: what each alert of `deploy/prometheus` is for is brought about through the venue, the alert's own expression
 * holds over what the real daemon serves at /metrics, and what docs/reference/alerts.md says to press ends it, or does what it promises. Hours
 * pass by the processes' clocks, not by the test's.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isFiring, type Served } from '../monitor/firing.ts'
import { alerts, deployFolder } from '../monitor/promql.ts'
import { machineProgram } from '../support/machineProgram.ts'
import { folderEach } from './folderEach.ts'
import { type Operated, operatedIn, type Status } from './operated.ts'
import { type PaperHosts, perpd, type Running, startPaper, until } from './processes.ts'

const eth = 'ETH/USD [WETH-USDC]'
const link = 'LINK/USD [LINK-USDC]'
const minuteMs = 60_000
/** When the price of ETH falls by a fifth, by the venue's clock since its start. */
const fallMs = 120 * minuteMs

/** Alerts whose cause another test brings about: its file below `test/`, and words of it. */
const elsewhere: Readonly<Record<string, readonly [file: string, words: string]>> = {
  PerpdRestarting: ['world/killRun.test.ts', 'killed again and again under load'],
  PerpdChainBehind: ['world/endpointAside.test.ts', '150 s behind'],
  PerpdDrawdown: ['world/breakers.test.ts', 'below its peak'],
  PerpdSubaccountExpires: ['engine/approvalKeeper.test.ts', 'a renewal is prepared once for a need'],
  PerpdSubaccountActionsLow: [
    'execution/subaccount.test.ts',
    'increases stop before the actions that closing',
  ],
  PerpdOrdersFailing: ['world/killSwitch.test.ts', 'orders that come to nothing hold their strategy back'],
}

/** Alerts that no test brings about on a machine that others use too, and why. */
const notHere: Readonly<Record<string, string>> = {
  PerpdJournalNoHolder: 'these daemons have a journal in a file; the rule is tried on series of its own',
  PerpdJournalFlapping: 'these daemons have a journal in a file; the rule is tried on series of its own',
  PerpdJournalAsynchronous: 'these daemons have a journal in a file; the rule is tried on series of its own',
  PerpdJournalSlow: 'commits take a quarter of a second on a disk that is busy for all that run on it',
  PerpdLoopLag: 'a loop that lags for minutes takes a processor that other tests need',
  PerpdMemoryHigh: '800 MB held by one process may end others on a small machine',
}

/** What one rehearsal works with. */
interface Stage {
  /** A command beside the daemon; it has to be carried out. */
  press(...words: string[]): Promise<string>
  /** Sets switches of the venue, or whatever its control address takes at `path`. */
  venue(change: object, path?: string): Promise<void>
  /** Lets all processes' clocks go ahead. */
  pass(ms: number): void
  when(what: string, isTrue: (status: Status) => boolean): Promise<Status>
  readonly folder: string
  readonly url: string
  readonly control: string
  stop(): Promise<void>
  start(): Promise<void>
  stranger(): Promise<void>
}

/** One rehearsal: `cause` makes the alerts hold, `press` is what their sections say. */
interface Rehearsal {
  readonly alerts: readonly string[]
  readonly cause?: (stage: Stage) => Promise<unknown>
  /** Commands; each has to stand in the section of one of the alerts. */
  readonly press?: (stage: Stage) => Promise<unknown>
  /** What the alerts' end needs besides: the cause's own. */
  readonly mend?: (stage: Stage) => Promise<unknown>
  /** What is true then, where the alerts go on for a while because they are about what happened. */
  readonly promised?: (status: Status) => boolean
  /** Alerts that do not hold afterwards; default: those of the rehearsal, where nothing else is promised. */
  readonly ended?: readonly string[]
}

const isHalted = ({ tradingState }: Status): boolean => tradingState === 'halted'
const isReducing = ({ tradingState }: Status): boolean => tradingState === 'reducing'
const isHeld = ({ positions }: Status): boolean => positions.length > 0
const unknownOf = ({ openIntents }: Status) => openIntents.find(({ status }) => status === 'unknown')
const allHosts = ['api/0', 'api/1', 'oracle/0', 'oracle/1', 'oracle/2']

/** Played one after the other: each begins where the one before ended. */
const rehearsals: readonly Rehearsal[] = [
  {
    alerts: ['PerpdPayloadMismatch'],
    async cause({ venue, press, folder }) {
      await venue({ prepare: 'foreign-receiver', times: 1 })
      writeStrategy(folder, eth, true)
      await press('strategies', 'reload', '--by', 'ann')
    },
    press: ({ press }) => press('trading', 'halted', '--by', 'ann'),
    promised: isHalted,
  },
  {
    alerts: ['PerpdTradingHalted'],
    press: ({ press }) => press('trading', 'active', '--by', 'ann'),
  },
  {
    // One oracle host has named LINK with other decimals since the start.
    alerts: ['PerpdContradictionOpen'],
    cause: ({ when }) => when('a position is held', isHeld),
    press: ({ press }) => press('markets', 'trust', link, '--by', 'ann'),
  },
  {
    alerts: ['PerpdOracleStale'],
    cause: ({ venue }) => venue({ oldOracles: ['oracle/0'] }),
    mend: ({ venue }) => venue({ oldOracles: [] }),
  },
  {
    alerts: ['PerpdHostFailing'],
    cause: ({ venue }) => venue({ id: 'failing', kind: 'status', status: 503, host: 'api/1' }, 'wire'),
    mend: ({ control }) => fetch(`${control}/wire`, { method: 'DELETE' }),
  },
  {
    alerts: ['PerpdSignalsRefused'],
    async cause({ url }) {
      for (let sent = 0; sent < 12; sent += 1)
        await fetch(`${url}/api/signals`, { method: 'POST', body: '{}' })
    },
  },
  {
    alerts: ['PerpdMoneyLeft'],
    async cause({ venue, when }) {
      const { account, nowMs } = await when('the equity is read', ({ equity }) => equity !== undefined)
      // What leaves is told from a loss against lists that held still for half a minute.
      await when('lists held still', (status) => status.nowMs - nowMs > 40_000)
      await venue({ address: account, balances: { USDC: '600' } }, 'accounts')
    },
    press: ({ press }) => press('kill', '--close', '--by', 'ann'),
    promised: (status) => isHalted(status) && !isHeld(status),
  },
  {
    alerts: ['PerpdTradingHalted'],
    press: ({ press }) => press('trading', 'active', '--by', 'ann'),
  },
  {
    alerts: ['PerpdStrategyFailing'],
    async cause({ venue, when }) {
      await when('a position is held again', isHeld)
      await venue({ down: allHosts })
    },
    press: ({ press }) => press('strategies', 'pause', 'once', '--by', 'ann'),
  },
  {
    alerts: ['PerpdNotReady', 'PerpdDataStale', 'PerpdEquityOld'],
    cause: ({ pass }) => Promise.resolve(pass(16 * minuteMs)),
    press: ({ press }) => press('trading', 'reducing', '--by', 'ann'),
    promised: isReducing,
  },
  {
    alerts: ['PerpdTradingReducing'],
    mend: ({ venue }) => venue({ down: [] }),
    press: ({ press }) => press('trading', 'active', '--by', 'ann'),
    ended: ['PerpdTradingReducing', 'PerpdNotReady', 'PerpdDataStale', 'PerpdEquityOld'],
  },
  {
    // Its strategy pauses still: what only strategies read grows old, and that is no alert.
    alerts: ['PerpdPositionWithoutStop'],
    cause: ({ pass }) => Promise.resolve(pass(6 * minuteMs)),
    press: ({ press }) => press('close', eth, 'long', '--by', 'ann'),
    ended: ['PerpdPositionWithoutStop', 'PerpdDataStale'],
  },
  {
    alerts: ['PerpdOrderUnresolved'],
    async cause({ venue, press, when, pass }) {
      await venue({ prepare: 'none', submit: '500-before-work', times: 1 })
      await press('strategies', 'resume', 'once', '--by', 'ann')
      await when('an order is unknown', (status) => unknownOf(status) !== undefined)
      pass(6 * minuteMs)
    },
    async press({ press, when }) {
      const status = await when('it is unknown', (each) => unknownOf(each) !== undefined)
      await press('orders', 'unwind', unknownOf(status)?.intentId ?? '', '--by', 'ann')
    },
    promised: (status) => unknownOf(status) !== undefined,
  },
  {
    alerts: ['PerpdUnwindOpen'],
    async press({ press, when }) {
      const status = await when('it is unknown', (each) => unknownOf(each) !== undefined)
      await press('orders', 'resolve', unknownOf(status)?.intentId ?? '', '--as', 'dead', '--by', 'ann')
    },
    ended: ['PerpdUnwindOpen', 'PerpdOrderUnresolved'],
  },
  {
    alerts: ['PerpdLiquidated'],
    async cause({ when, pass }) {
      await when('a position is held once more', isHeld)
      pass(fallMs)
    },
    press: ({ press }) => press('trading', 'reducing', '--by', 'ann'),
    promised: isReducing,
  },
  {
    alerts: ['PerpdDiscrepancyOpen'],
    cause: ({ stranger }) => stranger(),
    async press({ press, when }) {
      // One act of a stranger may be told as several, one after the other: all are looked at before it is quiet for a while.
      for (let quietSince: number | undefined; ; ) {
        const found = JSON.parse(await press('discrepancies', '--json')) as {
          readonly discrepancy: { readonly discrepancyId: string }
        }[]
        for (const { discrepancy } of found)
          await press('discrepancies', 'ignore', discrepancy.discrepancyId, '--by', 'ann')
        const { nowMs } = await when('the daemon runs', ({ state }) => state === 'running')
        quietSince = found.length > 0 ? undefined : (quietSince ?? nowMs)
        if (quietSince !== undefined && nowMs - quietSince > 20_000) break
      }
    },
  },
  {
    alerts: ['PerpdDown'],
    cause: ({ stop }) => stop(),
    mend: ({ start }) => start(),
  },
]

const runbook = readFileSync(join(deployFolder, '..', 'docs', 'reference', 'alerts.md'), 'utf8')

/** What a section says to press. */
function pressedIn(alert: string): string {
  const [, section = ''] = runbook.split(`\n## ${alert}\n`)
  return /^- \*\*Press:\*\* (.*)$/m.exec(section)?.[1] ?? ''
}

function writeStrategy(folder: string, market: string, isEnabled: boolean): void {
  writeFileSync(
    join(folder, 'once.yaml'),
    JSON.stringify({
      kind: join(import.meta.dirname, 'strategies', 'once.ts'),
      market,
      enabled: isEnabled,
      cadenceSeconds: 1,
      size: { usd: 2_000, leverage: 8, collateral: 'short' },
    }),
  )
}

/** Candles of ETH that stands still, and falls by a fifth within a second. */
function writePrices(path: string): void {
  const rows = ['timestamp,open,high,low,close,symbol']
  const begun = 1_700_000_000
  rows.push(`${begun},3000,3000,3000,3000,ETH`)
  rows.push(`${begun + fallMs / 1_000},3000,3000,2400,2400,ETH`)
  rows.push(`${begun + fallMs / 1_000 + 1},2400,2400,2400,2400,ETH`)
  writeFileSync(path, `${rows.join('\n')}\n`)
}

test('every alert is rehearsed here or in a test that is named, or it is said why not', () => {
  const here = rehearsals.flatMap((each) => each.alerts)
  const named = [...new Set([...here, ...Object.keys(elsewhere), ...Object.keys(notHere)])]
  expect(named.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
  for (const alert of [...Object.keys(elsewhere), ...Object.keys(notHere)]) expect(here).not.toContain(alert)
  for (const [file, words] of Object.values(elsewhere)) {
    const path = join(import.meta.dirname, '..', file)
    expect(existsSync(path), file).toBe(true)
    expect(readFileSync(path, 'utf8')).toContain(words)
  }
})

const folder = folderEach()

const promtool = machineProgram(['promtool'], 'prometheus')

test.runIf(promtool !== undefined)(
  'each cause that the venue can bring about is seen by its alert, and what its section says to press does what it promises',
  { timeout: 1_800_000 },
  async () => {
    const shiftFile = join(folder.path, 'shift')
    let passedMs = 0
    const pass = (ms: number): void => {
      passedMs += ms
      writeFileSync(`${shiftFile}.new`, String(passedMs))
      renameSync(`${shiftFile}.new`, shiftFile)
    }
    pass(0)
    process.env.TEST_CLOCK_SHIFT_FILE = shiftFile
    onTestFinished(() => {
      delete process.env.TEST_CLOCK_SHIFT_FILE
    })
    writePrices(join(folder.path, 'prices.csv'))
    const paper = await startPaper([
      `--paper.replayFile=${join(folder.path, 'prices.csv')}`,
      '--paper.startBalances=USDC=1000',
      '--paper.startBalances=ETH=0.1',
      '--paper.keeperDelayMs=200',
      '--paper.keeperJitterMs=0',
      '--paper.traders=0',
    ])
    writeStrategy(folder.path, eth, false)
    const own = await operatedIn(folder.path)
    const stage = await stageOf(own, paper, pass)
    await stage.venue(await otherDecimals(paper.hosts, 'LINK'), 'wire')
    await stage.start()

    const scrape = async (): Promise<Served> => {
      const answer = await fetch(`${stage.url}/metrics`).catch(() => undefined)
      return answer?.ok === true ? await answer.text() : undefined
    }
    const rule = (name: string) => {
      const found = alerts.find(({ alert }) => alert === name)
      if (found === undefined) throw new Error(`no alert ${name}`)
      return found
    }
    /** Waits until the alert holds, or does not, by what is served from now on beside what was `before`. */
    const becomes = (name: string, holds: boolean, before: Served): Promise<true> => {
      const latest: Served[] = []
      return until(
        `${name} ${holds ? 'holds' : 'is over'}`,
        async () => {
          latest.push(await scrape())
          // A rate is over five minutes at least, and a series that begins needs two readings.
          if (latest.length > 4) latest.shift()
          return (await isFiring(rule(name), [before, ...latest], folder.path)) === holds || undefined
        },
        { seen: stage.said },
      )
    }
    let earlier = await scrape()
    for (const { alerts: names, cause, press, mend, promised, ended } of rehearsals) {
      await cause?.(stage)
      for (const name of names) await becomes(name, true, earlier)
      await mend?.(stage)
      stage.allowed = names.map(pressedIn).join('\n')
      await press?.(stage)
      stage.allowed = undefined
      if (promised !== undefined) await stage.when(`what ${names.join()} promises`, promised)
      earlier = await scrape()
      for (const name of ended ?? (promised === undefined ? names : [])) await becomes(name, false, earlier)
    }
  },
)

/** The stage, and what the daemon said; `allowed`: the only text in which a command may stand now. */
async function stageOf(
  own: Operated,
  paper: Running & { readonly hosts: PaperHosts; readonly control: string },
  pass: (ms: number) => void,
): Promise<Stage & { allowed: string | undefined; readonly said: () => string }> {
  const flags = [
    '--control.metricsAccess=open',
    `--control.signalSecretFile=${join(own.folder, 'signal.secret')}`,
    '--api.timeoutMs=2000',
    // As on a real account: the venue's word alone ends no order.
    '--evidence.trustVenue=false',
  ]
  let daemon: Running | undefined
  const stage: Stage & { allowed: string | undefined; readonly said: () => string } = {
    allowed: undefined,
    said: () => daemon?.said() ?? '',
    folder: own.folder,
    url: `http://127.0.0.1:${own.port}`,
    control: paper.control,
    pass,
    async press(...words) {
      const [first = '', second = ''] = words
      const named = first === 'close' ? 'close MARKET' : `${first} ${second}`
      if (stage.allowed !== undefined && !words.includes('--json'))
        expect(stage.allowed).toContain(`perpd ${named}`)
      const running = perpd([...words, ...own.flags(paper.hosts), ...flags])
      expect([words, await running.ended, running.said()]).toEqual([words, 0, expect.anything()])
      return running.stdout()
    },
    async venue(change, path = 'faults') {
      const answer = await fetch(`${paper.control}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(change),
      })
      expect([answer.status, await answer.text()]).toEqual([200, expect.anything()])
    },
    when: (what, isTrue) => own.when(what, daemon as Running, isTrue),
    async stop() {
      daemon?.child.kill('SIGTERM')
      expect(await daemon?.ended, stage.said()).toBe(0)
    },
    async start() {
      daemon = perpd(['run', ...own.flags(paper.hosts), ...flags])
      await own.when('the daemon runs', daemon, ({ state }) => state === 'running')
    },
    async stranger() {
      const elsewhereFolder = join(own.folder, 'elsewhere')
      mkdirSync(elsewhereFolder)
      copyFileSync(join(own.folder, 'key'), join(elsewhereFolder, 'key'))
      writeStrategy(elsewhereFolder, 'BTC/USD [BTC-USDC]', true)
      const other = await operatedIn(elsewhereFolder)
      const running = perpd(['run', ...other.flags(paper.hosts)])
      await other.when('the stranger holds a position', running, ({ positions }) =>
        positions.some(({ sizeInUsd }) => BigInt(sizeInUsd) === 2_000n * 10n ** 30n),
      )
      running.child.kill('SIGKILL')
      await running.ended
    },
  }
  return stage
}

/** A rule of the venue's road: one oracle host names a token with other decimals. */
async function otherDecimals(hosts: PaperHosts, symbol: string): Promise<object> {
  const body = (await (await fetch(`${hosts.oracle[0]}/tokens`)).json()) as {
    readonly tokens: readonly { readonly symbol: string }[]
  }
  const at = body.tokens.findIndex((each) => each.symbol === symbol)
  expect(at).toBeGreaterThanOrEqual(0)
  const edits = [{ path: `/tokens/${at}/decimals`, set: 14 }]
  return { id: 'decimals', kind: 'edit', route: '/tokens', host: 'oracle/0', edits }
}
