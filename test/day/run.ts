/**
 * `npm run rehearse -- [--hours 24] [--seed 1] [--days 1] [--calm]`: lives simulated days of lag (day.ts), one for each seed, and prints what
 * happened. Ends with 1 when something was refused or raised that was only lag. `--calm` is the same day without lag.
 */
import { parseArgs } from 'node:util'
import { liveDay } from './day.ts'
import { judge, textOf } from './judge.ts'

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    days: { type: 'string', default: '1' },
    calm: { type: 'boolean', default: false },
  },
})
for (let seed = Number(values.seed); seed < Number(values.seed) + Number(values.days); seed += 1) {
  const startedMs = process.cpuUsage()
  const report = await liveDay({ seed, hours: Number(values.hours), lags: !values.calm })
  const { user, system } = process.cpuUsage(startedMs)
  const problems = judge(report)
  process.stdout.write(`${textOf(report)}\n  CPU          ${((user + system) / 1e6).toFixed(0)} s\n`)
  process.stdout.write(`  problems     ${problems.length}\n${problems.map((each) => `    ${each}\n`).join('')}`)
  if (problems.length > 0) process.exitCode = 1
}
