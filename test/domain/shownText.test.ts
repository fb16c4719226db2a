/** Names from outside on screens, in logs, labels and answers. */
import { expect, test } from 'vitest'
import { marked, visible } from '../../src/base/shownText.ts'
import { columns } from '../../src/cli/output/table.ts'
import { controlRoutes } from '../../src/control/routes.ts'
import { createLog } from '../../src/monitor/log/log.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { access, asReader, engine, status } from '../control/door.ts'

/** ETH/USD turned around, with a line's end, a terminal's escape, a joiner, a half pair, a tag of a higher plane, DEL and C1. */
const evil = 'ETH\u202e/DSU\u2028B\u001b[2J\u200d\ud800\u{e0041}\u007f\u0085\ufeff'
const unseen = /[\p{Cf}\p{Zl}\p{Cs}\u007f-\u009f]|(?!\n)\p{Cc}/u

test('every character that is not seen as such is written out, and all others stay', () => {
  expect(visible(evil)).toBe(
    'ETH\\u202e/DSU\\u2028B\\u001b[2J\\u200d\\ud800\\udb40\\udc41\\u007f\\u0085\\ufeff',
  )
  for (const plain of ['ETH/USD [WETH-USDC]', 'größer ≥ 5 €', '日本', '👍', 'a\n\tb', '…']) {
    expect(visible(plain)).toBe(plain)
    expect(marked(plain.replace('\t', ''))).toBe(plain.replace('\t', ''))
  }
  expect(JSON.parse(visible(JSON.stringify({ [evil]: evil })))).toEqual({ [evil]: evil })
})

test.each(['json', 'pretty'] as const)('a line of the log in %s shows it, and stays one line', (format) => {
  let said = ''
  const log = createLog({
    level: 'debug',
    format,
    stream: { write: (text: string) => (said += text) },
    color: false,
  })
  log.listen({ type: 'capacity.read', symbol: evil, direction: 'long', roomUsd: 1n as never })
  log.listen({ type: 'host.cooldown', host: `http://${evil}/v1`, cooldownMs: 1, reason: evil })
  expect(said).not.toMatch(unseen)
  // Pretty begins with a line of the date.
  expect(said.trimEnd().split('\n')).toHaveLength(format === 'json' ? 2 : 3)
  if (format === 'json') expect(JSON.parse(said.split('\n')[1] ?? '')).toMatchObject({ reason: evil })
})

test('a table keeps its rows and columns', () => {
  const text = columns([
    [`${evil}\n`, 'one'],
    ['plain', 'two'],
  ])
  expect(text).not.toMatch(unseen)
  const lines = text.split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]?.indexOf('one')).toBe(lines[1]?.indexOf('two'))
})

test('a label of a metric is marked, and the exposition stays one line for it', async () => {
  const metrics = createMetrics({
    version: '0.1.0',
    profile: 'paper',
    chain: 'arbitrum',
  })
  metrics.listen({ type: 'capacity.read', symbol: evil, direction: 'long', roomUsd: 1n as never })
  const text = await metrics.render(engine.status())
  expect(text).not.toMatch(unseen)
  expect(text).toContain('market="ETH\ufffd/DSU\ufffdB')
})

test('what the control port answers says the same as JSON and shows nothing else on a screen', async () => {
  const routes = controlRoutes({
    ...access,
    engine: {
      ...engine,
      status: () => ({
        ...status,
        symbols: Object.fromEntries(Object.keys(status.symbols).map((token) => [token, evil])),
      }),
    },
    metrics: { render: () => Promise.resolve(''), contentType: 'text/plain' },
    health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) } as never,
    hostNames: [],
    now: () => 0,
  })
  const answer = await routes.request('/api/status', { headers: { ...asReader, host: 'localhost' } })
  const text = await answer.text()
  expect(text).not.toMatch(unseen)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(Object.values(JSON.parse(text).symbols)).toContain(evil)
})
