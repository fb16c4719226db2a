/** What befalls an answer of JSON-RPC on its way: it is lost, cut off, none at all, or its rows are not what was asked. */
import type { FaultName, Faults } from './faults.ts'
import type { Random } from './random.ts'

/** What comes back: a status and a text, or nothing that could be read. */
export type Reply = { readonly status: number; readonly text: string } | 'closed' | 'never'

/** An answer to one call. */
export type Row = Readonly<Record<string, unknown>>

const statuses = [429, 500, 502, 503]
const pages = ['<html>proxy</html>', '', 'null', '[]', '{}', '[null]', '7']

/** How an endpoint that is out of order does not answer. */
export function outage(random: Random): Reply {
  return random.pick([
    () => ({ status: random.pick(statuses), text: '<html>not now</html>' }),
    () => ({ status: 200, text: random.pick(pages) }),
    () => refusedWhole(random, -32005, 'rate limited: see https://node.test/?key=0123456789'),
    () => refusedWhole(random, -32603, 'internal error'),
    () => 'closed' as const,
    () => 'never' as const,
  ])()
}

/** One request that an endpoint in order does not answer, if it comes to that now. */
export function passingOutage(faults: Faults, random: Random): Reply | undefined {
  const ways: readonly (readonly [FaultName, () => Reply])[] = [
    ['rpc-status', () => ({ status: random.pick(statuses), text: random.pick(pages) })],
    ['rpc-html', () => ({ status: 200, text: random.pick(pages) })],
    ['rpc-closed', () => 'closed'],
    ['rpc-refuses', () => refusedWhole(random, -32005, 'rate limited')],
  ]
  return ways.find(([name]) => faults.comes(name, 0.02))?.[1]()
}

function refusedWhole(random: Random, code: number, message: string): Reply {
  const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })
  return { status: random.pick([200, 400, 429]), text }
}

const misnumbered: readonly ((answers: readonly Row[]) => readonly unknown[])[] = [
  (answers) => answers.map((answer) => ({ ...answer, id: Number(answer.id) + 1 })),
  (answers) => [...answers, ...answers],
  (answers) => [...answers.map((answer) => ({ ...answer, id: answers[0]?.id })), { jsonrpc: '2.0', id: -1 }],
  (answers) => answers.map((answer) => ({ ...answer, id: String(answer.id) })),
  (answers) => answers.slice(1),
  (answers) => answers.map(({ id }) => ({ jsonrpc: '2.0', id })),
]

const noNumbers = ['-0x1', '12', '0xzz', `0x${'f'.repeat(64)}`, `0x${'f'.repeat(80)}`, 7, '', '0x']

/** The answers of a batch as they arrive. */
export function damaged(answers: readonly Row[], faults: Faults, random: Random): readonly unknown[] {
  const arrived = answers.length > 1 && faults.comes('rpc-order', 0.2) ? answers.toReversed() : answers
  if (faults.comes('rpc-ids', 0.02)) return random.pick(misnumbered)(arrived)
  if (!faults.comes('rpc-numbers', 0.02)) return arrived
  const bad = random.pick(noNumbers)
  return arrived.map((answer) =>
    'result' in answer ? { ...answer, result: spoiled(answer.result, bad) } : answer,
  )
}

/** A result with a number of it in a shape that is none. */
function spoiled(result: unknown, bad: unknown): unknown {
  if (typeof result === 'string') return bad
  if (Array.isArray(result)) return result.map((row) => spoiled(row, bad))
  if (typeof result !== 'object' || result === null) return bad
  const name = ['logIndex', 'timestamp', 'blockHash'].find((key) => key in result)
  return name === undefined ? bad : { ...result, [name]: bad }
}
