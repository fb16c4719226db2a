/**
 * `npm run rehearse -- [--hours 24] [--seed 1] [--days 1] [--cadence S] [--calm]`: lives simulated days of lag (day.ts), one for each
 * seed, tells alarms as they come, and prints what happened. Ends with 1 when something was refused or raised that was only lag.
 * `--cadence` stands in for the strategies' own, seconds: a day with 5 takes some fifteen minutes of CPU. `--calm` is the same day
 * without lag.
 */
import { parseArgs } from 'node:util'
import { liveDay } from './day.ts'
import { judge, textOf } from './judge.ts'
import { alarmOf, contradictionCodes } from './report.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    days: { type: 'string', default: '1' },
    cadence: { type: 'string' },
    calm: { type: 'boolean', default: false },
  },
})
const contradictions: ReadonlySet<string> = new Set(contradictionCodes)
const first = Number(values.seed)
for (let seed = first; seed < first + Number(values.days); seed += 1) {
  const startedCpu = process.cpuUsage()
  const report = await liveDay({
    seed,
    hours: Number(values.hours),
    lags: !values.calm,
    hasAllMarkets: true,
    ...(values.cadence === undefined ? {} : { cadenceSeconds: Number(values.cadence) }),
    onEvent(event, atMs) {
      const at = `seed ${seed} at ${Math.round(atMs / 1000)} s`
      const alarm = alarmOf(event)
      if (alarm !== undefined) print(`${at}: ${alarm}`)
      if (event.type === 'decision.denied' && contradictions.has(event.denial.code))
        print(`${at}: ${event.strategy} ${event.decision.kind} ${event.denial.code} ${event.denial.reason}`)
    },
  })
  const { user, system } = process.cpuUsage(startedCpu)
  const problems = judge(report)
  print(`${textOf(report)}\n  CPU          ${((user + system) / 1e6).toFixed(0)} s`)
  print(`  problems     ${problems.length}${problems.map((each) => `\n    ${each}`).join('')}`)
  if (problems.length > 0) process.exitCode = 1
}
