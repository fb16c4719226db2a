/** A daemon that is killed under a backtest of its console: the run goes on, the next daemon says so, and resumes one whose process was killed too. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runTexts } from '../../src/control/console/page/runTexts.ts'
import type { RunsReport } from '../../src/control/console/runDesk.ts'
import { ask, type ConsolePlace, loggedIn, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { perpd, until } from './processes.ts'

const here = pageTests()

function minutes(): string {
  const price = (at: number): number => 2000 + Math.round(10_000 * Math.sin(at / 200)) / 100
  const rows = Array.from({ length: 2 * 1_440 }, (_unused, at) => {
    const [open, close] = [price(at), price(at + 1)]
    const [high, low] = [Math.max(open, close) + 0.5, Math.min(open, close) - 0.5]
    return [1_704_067_200 + at * 60, open, high, low, close].join(',')
  })
  return `timestamp,open,high,low,close\n${rows.join('\n')}\n`
}

async function runsOf(place: ConsolePlace): Promise<RunsReport> {
  return (await (await ask(place, '/api/runs')).json()) as RunsReport
}

/** Whole files of a run's folder that are the same for equal runs. */
const resultOf = (folder: string, name: string): readonly string[] =>
  ['fills.csv', 'equity.csv', 'result.json'].map((each) =>
    readFileSync(join(folder, 'var', 'runs', name, each), 'utf8'),
  )

pageTest(
  'a backtest outlives a daemon that is killed, the next one shows it, and resumes it where its process was killed too',
  { timeout: 400_000 },
  async () => {
    const { folder } = here
    const runs = join(folder, 'var', 'runs')
    const span = { from: '2024-01-02', to: '2024-01-03' }
    mkdirSync(join(folder, 'strategies'))
    writeFileSync(
      join(folder, 'strategies', 'mine.yaml'),
      readFileSync(join(import.meta.dirname, '../../strategies/eth-trend.yaml')),
    )
    writeFileSync(join(folder, 'eth.csv'), minutes())
    const imported = perpd(['data', 'import', 'eth.csv', '--market', 'ETH', '--source', 'made'], {
      cwd: folder,
    })
    expect(await imported.ended, imported.said()).toBe(0)
    const flags = [`--strategies.paths=${join(folder, 'strategies')}`]
    const first = await servedIn(folder, flags)
    const begun = await ask(first, '/api/runs', { strategy: 'mine', mode: 'fast', ...span })
    const { job } = (await begun.json()) as RunsReport
    const name = job?.name ?? ''
    const held = join(runs, name, 'process.pid')
    await until('the run is begun', () => (existsSync(held) ? true : undefined), { seen: first.said })
    const pid = Number(readFileSync(held, 'utf8'))
    // Its process stands still, as on a machine that is busy: it is not over before all of this is looked at.
    process.kill(pid, 'SIGSTOP')
    first.child.kill('SIGKILL')
    await first.ended
    expect(process.kill(pid, 0)).toBe(true)
    // A person who types the same command beside it is told that it is being made.
    const again = ['backtest', '--resume', join(runs, name)]
    const beside = perpd([...again, '--log.format=pretty', '--control.port=0', ...flags], { cwd: folder })
    expect(await beside.ended).toBe(4)
    expect(beside.said()).toContain(`pid: ${pid}`)
    // With other settings it would be another run, and what differs is named.
    const other = perpd(again, { cwd: folder })
    expect(await other.ended).toBe(4)
    expect(other.said()).toMatch(/differs: .*strategies\.paths/)

    const second = await servedIn(folder, flags)
    expect((await runsOf(second)).runs).toMatchObject([{ name, isBeingMade: true }])
    const { page, complaints } = await loggedIn(here.browser, second, 'operate')
    await toPage(page, 'results')
    await page.waitForSelector(`#runs tbody >> text=${runTexts.beingMade}`)
    const resume = { name }
    expect((await ask(second, '/api/runs/resume', resume)).status).toBe(404)

    process.kill(pid, 'SIGKILL')
    await page.waitForSelector(`#runs tbody >> text=${runTexts.stopped}`)
    const [row] = (await runsOf(second)).runs
    expect([row?.name, row?.isBeingMade, row?.figures]).toEqual([name, undefined, undefined])
    await page.click(`#runs tbody >> text=${runTexts.resume}`)
    await page.waitForSelector('#run-job >> text=is over', { timeout: 240_000 })
    expect((await runsOf(second)).runs).toMatchObject([{ name, figures: { isResult: true } }])
    expect(complaints).toEqual([])
    second.child.kill('SIGTERM')
    await second.ended

    // It is the run that was never stopped, byte for byte.
    const whole = perpd(
      [
        ...['backtest', join(folder, 'strategies', 'mine.yaml'), '--fast', '--json'],
        ...['--from', span.from, '--to', span.to, '--out', join(runs, 'whole')],
      ],
      { cwd: folder },
    )
    expect(await whole.ended, whole.said()).toBe(0)
    expect(resultOf(folder, name)).toEqual(resultOf(folder, 'whole'))
  },
)
