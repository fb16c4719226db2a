/** `npm run fuzz -- --cases N --from S`: cases of odd structure over every reader of the process. */
import { parseArgs } from 'node:util'
import { runCases } from './cases.ts'
import { readers } from './readers.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    from: { type: 'string', default: '1' },
    most: { type: 'string', default: '20' },
  },
})
const [cases, from, most] = [Number(values.cases), Number(values.from), Number(values.most)]
const startedMs = performance.now()
process.on('uncaughtException', (error) => {
  process.stderr.write(`thrown past every reader: ${error.stack ?? error.message}\n`)
  process.exit(1)
})
const failures = await runCases(cases, from, most, (done) => {
  const seconds = Math.round((performance.now() - startedMs) / 1_000)
  process.stdout.write(`${done} of ${cases} cases, ${seconds} s\n`)
})
for (const { number, reader, text, why } of failures) {
  process.stdout.write(`\ncase ${number}, ${reader}:\n  ${text.slice(0, 400)}\n  ${why}\n`)
}
process.stdout.write(
  `${cases} cases from ${from} over ${readers.length} readers: ${failures.length} failures\n`,
)
process.exit(failures.length === 0 ? 0 : 1)
