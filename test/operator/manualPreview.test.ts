/** What is said of a cancel and of a close before it is sent. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

test('a cancel says before it is sent that it takes the last stop-loss of a position, and nothing is made by that', async () => {
  bench = await kindsBench({})
  const { engine } = engineOver(bench, {})
  running = engine
  await engine.start()
  const { clock, venue } = bench
  const ask = (command: object) => engine.operate(command as OperatorCommand, { by: 'ann', via: 'control' })
  const side = { market: ethSymbol, direction: 'long', collateral: 'short' }
  const opening = { type: 'open', id: 'one', ...side, size: '500', leverage: '2', isPreview: false }
  const opened = await ask({ ...opening, takeProfit: '5000', stopLoss: '1000' })
  if (!opened.ok || opened.intentId === undefined) throw new Error(JSON.stringify(opened))
  await clock.advance(60_000)
  const sent = venue.record().length
  const cancel = { type: 'cancel', id: 'two', order: opened.intentId }
  expect(await ask({ ...cancel, isPreview: true })).toEqual({
    ok: true,
    isLastStop: true,
    statement: expect.stringMatching(
      /would be accepted now; \$\d+\.\d\d stays open without a stop-loss: while perpd is down/,
    ),
  })
  expect(venue.record()).toHaveLength(sent)

  // What waits for its price protects nothing yet.
  const waiting = await ask({ ...opening, id: 'three', limit: '1000', far: true })
  if (!waiting.ok || waiting.intentId === undefined) throw new Error(JSON.stringify(waiting))
  await clock.advance(60_000)
  const preview = await ask({ type: 'cancel', id: 'four', order: waiting.intentId, isPreview: true })
  expect(preview).toMatchObject({ ok: true, statement: expect.stringContaining('would be accepted now') })
  expect(preview).not.toHaveProperty('isLastStop')

  expect(await ask(cancel)).toMatchObject({
    ok: true,
    statement: expect.stringContaining('without a stop-loss'),
  })
})
