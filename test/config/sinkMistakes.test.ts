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
    [[hook, { ...phone, chat: 'hushhush' }], 'entry 2 (phone): chat is not a field of its type'],
    [[{ ...hook, events: { 'order-filled': 'hushhush' } }], 'entry 1 (hook): events.order-filled'],
    [[{ ...hook, type: 'hushhush' }], 'entry 1 (hook): type does not fit'],
  ] as const) {
    const said = sinksOf(sinks)
    expect(said).toContain(`notify.sinks, ${place}`)
    expect(said).not.toContain('hushhush')
  }
})

test('a text in the place of a sink is never repeated; the entry and the form that it must have are named', () => {
  const secret = 'https://hooks.example/hushhush'
  for (const [sinks, place] of [
    [[secret], ', entry 1 is a text, not an object with fields'],
    [[hook, secret], ', entry 2 is a text, not an object with fields'],
    [[[secret]], ', entry 1 is a list, not an object with fields'],
    [secret, ''],
    [JSON.stringify([hook, secret]), ''],
    [[{ ...hook, [secret]: 1 }], ', entry 1 (hook): [hidden] is not a field of its type'],
  ] as const) {
    const said = sinksOf(sinks)
    expect(said).toContain(
      `notify.sinks is none that can be used${place === '' ? '' : `: notify.sinks${place}`}`,
    )
    expect(said).toContain('expected a list of sinks of different names, each with type')
    expect(said).not.toContain('hushhush')
  }
})

test('credentials and queries of an address that does not fit are never repeated, whichever setting they are in', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'perpd-sinks-'))
  const said = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    try {
      loadConfig({ argv, env, cwd })
      return 'fits'
    } catch (error) {
      return JSON.stringify(error) + String(error)
    }
  }
  for (const key of ['venue.apiHosts', 'venue.oracleHosts', 'account.remoteSigner', 'notify.consoleUrl'])
    for (const address of ['https://me:hushhush@one.example/v1', 'https://one.example/v1?key=hushhush']) {
      expect(said([`--${key}`, address])).toContain(`${key} is "https://`)
      expect(said([`--${key}`, address])).not.toContain('hushhush')
    }
  const sinks = said([], { PERPD__NOTIFY__SINKS: 'https://hooks.example/hushhush' })
  expect(sinks).toContain('notify.sinks is none that can be used')
  expect(sinks).not.toContain('hushhush')
  expect(said(['--rpc.http', 'https://one.example/hushhush,ftp://one.example/hushhush'])).toContain(
    'rpc.http is https://one.example/[hidden]: rpc.http, entry 2 does not fit',
  )
  rmSync(cwd, { recursive: true })
})

test('ids of chats and people are taken as numbers too', () => {
  expect(
    sinksOf([{ ...phone, chatId: -1_001_234_567_890, commandUserIds: [7, '8'], topicId: 3 }]),
  ).toMatchObject([{ chatId: '-1001234567890', commandUserIds: ['7', '8'], topicId: 3 }])
})
