/** What strategies wait for, on screens of two sizes: in `perpd strategies`, `perpd status` and `perpd top`. */
import { expect, test } from 'vitest'
import { strategiesTable } from '../../src/cli/results/statusParts.ts'
import { strategiesText, strategyRows } from '../../src/cli/verbs/strategiesCommand.ts'
import type { StatusBody } from '../../src/control/routes.ts'
import { toPlain } from '../../src/domain/summaries/orderView.ts'
import { status } from '../control/door.ts'

const [first] = status.strategies
if (first === undefined) throw new Error('no strategy')
const text =
  'ETH: RSI 52, waits for below 45 or above 55; BTC: RSI 44, waits for a turn; SOL: holds long, RSI 47, closes above 50'
const shown = (atMs: number): StatusBody =>
  ({
    ...(toPlain({
      ...status,
      strategies: [{ ...first, status: { text, facts: { ETH_rsi: 52 }, atMs } }],
    }) as object),
    openIntents: [],
  }) as unknown as StatusBody

test.each([80, 200])('a screen of %i columns has the line whole, below the table', (width) => {
  const body = shown(status.nowMs - 1_000)
  const table = strategiesTable(body, width)
  expect(table).toMatchSnapshot()
  expect(table.replace(/\s+/g, ' ')).toContain(`${first.name}: ${text}`)
  for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(width)
  const rows = strategyRows(body, [], [], { enabled: new Map(), disabled: [], isWhole: false })
  expect(rows[0]).toMatchObject({ status: { text, facts: { ETH_rsi: 52 } } })
  expect(strategiesText(rows, status.nowMs, width).replace(/\s+/g, ' ')).toContain(`${first.name}: ${text}`)
})

test('a line of a turn that is minutes old shows its age', () => {
  expect(strategiesTable(shown(status.nowMs - 180_000), 200)).toContain('(3 min 0 s ago)')
  expect(strategiesTable(shown(status.nowMs - 30_000), 200)).not.toContain('ago)')
})
