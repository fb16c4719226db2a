/** A mistake in a list of sinks names the sink and the field, and repeats no value: one may be a secret that belongs into a file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'

const phone = { type: 'telegram', name: 'phone', tokenFile: './t', chatId: '-100' }
const hook = { type: 'webhook', name: 'hook', url: 'https://hooks.example/x', secretFile: './s' }

/** The sinks that are read of a settings file, or what is said of its mistakes. */
function sinksOf(sinks: unknown): readonly object[] | string {
  const cwd = mkdtempSync(join(tmpdir(), 'perpd-sinks-'))
  try {
    writeFileSync(join(cwd, 'perpd.json'), JSON.stringify({ notify: { sinks } }), { mode: 0o600 })
    return loadConfig({ argv: [], env: {}, cwd }).config.notify.sinks
  } catch (error) {
    return String(error)
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

test('a mistake names the sink and the field', () => {
  for (const [sinks, place] of [
    [[hook, { ...phone, chatId: 'hushhush' }], 'entry 2 (phone): chatId does not fit'],
    [[{ ...hook, secretFile: undefined }, phone], 'entry 1 (hook): secretFile is missing'],
    [[hook, { ...phone, chat: 'hushhush' }], 'entry 2 (phone): chat is no field of its type'],
    [[{ ...hook, events: { 'order-filled': 'hushhush' } }], 'entry 1 (hook): events.order-filled'],
    [[{ ...hook, type: 'hushhush' }], 'entry 1 (hook): type does not fit'],
  ] as const) {
    const said = sinksOf(sinks)
    expect(said).toContain(`notify.sinks, ${place}`)
    expect(said).not.toContain('hushhush')
  }
})

test('ids of chats and people are taken as numbers too', () => {
  expect(
    sinksOf([{ ...phone, chatId: -1_001_234_567_890, commandUserIds: [7, '8'], topicId: 3 }]),
  ).toMatchObject([{ chatId: '-1001234567890', commandUserIds: ['7', '8'], topicId: 3 }])
})
