/**
 * Cases of fast mode against exact by hand: `node test/backtest/fastByHand.ts [from] [count] [seconds of a segment]`. Prints each difference, and how long
 * each mode took.
 */
import { defined } from '../../src/base/defined.ts'
import { differenceOf, fastCase, liveCase } from './fastCases.ts'

const [from = 1, count = 20, segmentSeconds] = process.argv.slice(2).map(Number)
const spent = { exact: 0, fast: 0 }
let [fills, differences] = [0, 0]
for (let number = from; number < from + count; number += 1) {
  const given = { ...fastCase(number), ...defined({ segmentSeconds }) }
  const exact = await liveCase(given, 'exact')
  const fast = await liveCase(given, 'fast')
  const difference = differenceOf(exact, fast)
  spent.exact += exact.spentMs
  spent.fast += fast.spentMs
  fills += exact.fills.length
  const kinds = given.files.map(({ fields }) => String(fields.kind)).join(' and ')
  const told = `${number}: ${kinds}, ${exact.fills.length} fills, ${Math.round(exact.spentMs)} ms and ${Math.round(fast.spentMs)} ms`
  process.stdout.write(`${told}${difference === undefined ? '' : `\n${difference}`}\n`)
  if (difference !== undefined) differences += 1
}
const ratio = (spent.exact / spent.fast).toFixed(1)
process.stdout.write(
  `${count} cases, ${fills} fills, ${differences} different; exact ${Math.round(spent.exact)} ms of processor, fast ${Math.round(spent.fast)} (${ratio} times as fast)\n`,
)
