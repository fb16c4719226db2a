/**
 * `npm run messages -- FILE...`: runs files of the schema `gmx-messages/1` through the product's own sizing, admission and
 * verifier, and says by tag how many agree, and each that does not. Ends with 1 when one does not agree or cannot be read.
 */
import { type Judged, judge } from './judge.ts'
import { type MessageCase, readMessages } from './schema.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n`)

interface Count {
  agree: number
  all: number
}

function add(counts: Map<string, Count>, name: string, agrees: boolean): void {
  const count = counts.get(name) ?? { agree: 0, all: 0 }
  counts.set(name, { agree: count.agree + (agrees ? 1 : 0), all: count.all + 1 })
}

function judged(one: MessageCase): Pick<Judged, 'differences' | 'disagreement' | 'byHand'> {
  try {
    return judge(one)
  } catch (error) {
    return {
      differences: [],
      disagreement: `cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

const paths = process.argv.slice(2)
if (paths.length === 0) {
  print('usage: npm run messages -- FILE...   (files of the schema gmx-messages/1)')
  process.exitCode = 2
}
let disagreements = 0
for (const path of paths) {
  let cases: readonly MessageCase[]
  try {
    cases = readMessages(path)
  } catch (error) {
    print(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
    continue
  }
  const tags = new Map<string, Count>()
  const hands = new Map<string, number>()
  const lines: string[] = []
  for (const one of cases) {
    const { disagreement, differences, byHand } = judged(one)
    for (const name of [`(${one.expect})`, ...one.tags]) add(tags, name, disagreement === undefined)
    if (byHand !== undefined) hands.set(byHand, (hands.get(byHand) ?? 0) + 1)
    if (disagreement === undefined) continue
    lines.push(`  ${one.id} (${one.chain}): ${disagreement}`)
    for (const { field, expected, found } of differences)
      lines.push(`    ${field}: expected ${expected}, found ${found}`)
  }
  disagreements += lines.filter((line) => !line.startsWith('    ')).length
  const agree = cases.length - lines.filter((line) => !line.startsWith('    ')).length
  print(`${path}: ${agree} of ${cases.length} agree`)
  const handMade = [...hands].map(([why, count]) => `${count} ${why}`)
  const byHand = [...hands.values()].reduce((sum, count) => sum + count, 0)
  print(
    `  intents: ${cases.length - byHand} by admission, ${byHand} by hand${byHand === 0 ? '' : ` (${handMade.join(', ')})`}`,
  )
  for (const [name, { agree: good, all }] of [...tags].sort(([one], [other]) => (one < other ? -1 : 1)))
    print(`  ${name.padEnd(26)} ${good === all ? `${all}` : `${good} of ${all}`}`)
  if (lines.length > 0) print('disagreements:')
  for (const line of lines) print(line)
}
if (disagreements > 0) process.exitCode = 1
