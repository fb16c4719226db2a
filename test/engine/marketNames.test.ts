/** Markets are called by their symbol also where the world that was read has them not. */
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { phrase } from '../../src/monitor/events/eventRegister.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { engineOver } from '../support/engine.ts'
import { ethMarket, usdc } from '../support/intents.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

/** Reads BTC alone, and wants to close ETH. */
const closer: LoadedStrategy = {
  name: 'closer',
  path: 'closer.yaml',
  limits: {},
  symbolPlaces: [],
  onRemove: 'keep' as const,
  written: {},
  symbols: [btcSymbol],
  cadenceMs: 5_000,
  needs: { symbols: [btcSymbol] },
  params: {},
  instance: { name: 'closer', symbols: [btcSymbol] },
  strategy: {
    kind: 'closer',
    description: '',
    opensPositions: true,
    params: z.unknown(),
    needs: () => ({ symbols: [btcSymbol] }),
    decide: () => [
      { kind: 'close', marketToken: ethMarket, direction: 'long', collateralToken: usdc, reason: 'enough' },
    ],
  },
}

test('the line of a close names its market, though the strategy did not read it', async () => {
  bench = await kindsBench()
  const { engine, events } = engineOver(bench, { strategies: [closer] })
  running = engine
  await engine.start()
  await bench.clock.advance(10_000)
  const lines = events
    .filter(({ type }) => type === 'decision.made' || type === 'decision.denied')
    .map((event) => phrase(event))
  expect(lines.length).toBeGreaterThan(1)
  expect(lines[0]?.text).toBe(`closer wants to close the long on ${ethSymbol}: enough`)
  for (const { fields } of lines) expect(fields?.market).toBe(ethSymbol)
})
