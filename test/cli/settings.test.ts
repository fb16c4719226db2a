/** What follows from a setting that is written once: its JSON Schema, its name, what `perpd limits` takes over. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { settings } from '../../src/config/configSchema.ts'
import { settingsSchema } from '../../src/config/jsonSchema.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { waitingSettings } from '../../src/daemon/waitingSettings.ts'
import { limitRows, limitSetting } from '../../src/domain/limits/limits.ts'
import type { Unit } from '../../src/protocol/settings/setting.ts'
import { shippedProfiles } from '../support/shippedFiles.ts'

const root = resolve(import.meta.dirname, '../..')
const cwd = mkdtempSync(join(tmpdir(), 'perpd-settings-'))
const load = (...argv: string[]) => loadConfig({ argv, env: {}, cwd })

/** What the code reads, with what JSON has no word for as text. */
const plainText = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))

test('the JSON Schema takes every shipped profile and all defaults, and refuses a name or a value that is none', () => {
  const schema = z.fromJSONSchema(settingsSchema() as never)
  expect(shippedProfiles.map((path) => basename(path))).toContain('paper.json')
  for (const file of shippedProfiles) {
    const profile: unknown = JSON.parse(readFileSync(file, 'utf8'))
    expect([file, schema.safeParse(profile).error]).toEqual([file, undefined])
  }
  const all: Record<string, unknown> = { $schema: './config/schema/settings.json' }
  for (const { key, default: initial } of settings) {
    const [section = '', name] = key.split('.')
    all[section] = name === undefined ? initial : { ...(all[section] as object), [name]: initial }
  }
  expect(schema.safeParse(all).error).toBeUndefined()
  for (const wrong of [
    { risk: { maxOrderSizeUds: 5 } },
    { rsik: {} },
    { log: { level: 'loud' } },
    { control: { port: 99_999 } },
    { risk: { maxOrderSizeUsd: -1 } },
    { risk: { maxOrderSizeUsd: 'much' } },
    { strategies: { paths: './strategies' } },
  ])
    expect([wrong, schema.safeParse(wrong).success]).toEqual([wrong, false])
})

test('a setting with a unit says it at the end of its name', () => {
  const ends: Readonly<Record<Unit, RegExp>> = {
    ms: /Ms$/,
    seconds: /Seconds$/,
    minutes: /Minutes$/,
    hours: /Hours$/,
    bps: /Bps$/,
    USD: /Usd$/,
    MiB: /MiB$/,
    blocks: /Blocks$/,
  }
  const silent = settings.filter(({ key, reads }) => reads.unit !== undefined && !ends[reads.unit].test(key))
  expect(silent.map(({ key }) => key)).toEqual([])
})

test('each limit of a configuration is read: another value of it is another configuration', () => {
  const base = plainText(load().config)
  const unread = limitRows.filter(([name]) => {
    const key = `risk.${limitSetting(name)}`
    const { default: initial } = settings.find((each) => each.key === key) ?? { default: 0 }
    const other = String(Number(initial) * 0.99 > 1 ? Math.floor(Number(initial) * 0.99) : 3)
    return other !== String(initial) && plainText(load(`--${key}=${other}`).config) === base
  })
  expect(unread.map(([name]) => name)).toEqual([])
})

test('what perpd limits takes over is not told as waiting for a restart, and all else is', () => {
  const waiting = (...argv: string[]) => waitingSettings(load().values, load(...argv).values)
  expect(waiting('--account.reserveMinutes=90', '--account.reserveActions=30')).toEqual([])
  expect(waiting('--breakers.staleSeconds=90', '--risk.markets=ETH/USD: maxLeverage=5')).toEqual([])
  expect(waiting('--risk.maxMarketValuesAgeMs=20000')).toEqual(['risk.maxMarketValuesAgeMs'])
  expect(waiting('--account.warnHours=90')).toEqual(['account.warnHours'])
})

test('the code of every limit is one that risk refuses with', () => {
  const sources = readdirSync(join(root, 'src/risk'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(root, 'src/risk', file), 'utf8'))
    .join('\n')
  const strange = limitRows.filter(([, { denies }]) => !sources.includes(`'${denies.code}'`))
  expect(strange.map(([name]) => name)).toEqual([])
})

test('a referral code that begins like hex digits is a text all the same', () => {
  const of = (code: string) => load(`--signing.referralCode=${code}`).config.signing.referralCode
  expect(of(`0x${'1a'.repeat(32)}`)).toBe(`0x${'1a'.repeat(32)}`)
  expect(of('0x10')).toBe(`0x30783130${'0'.repeat(56)}`)
  expect(of('')).toBeUndefined()
})
