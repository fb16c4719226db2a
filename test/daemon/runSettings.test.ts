/** What a configuration lets be signed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { signingPolicyOf } from '../../src/daemon/runSettings.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-settings-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const policyOf = (priceUsd: Usd | undefined, argv: string[] = []) =>
  signingPolicyOf(loadConfig({ argv, env: {}, cwd }).config)({
    swapMarkets: new Map(),
    nativePriceUsd: priceUsd,
  })

test('a close may cost through the relay what its execution fee may, and half as much again', () => {
  // 0.01 ETH at 1740 USD, and the relay's gas.
  expect(policyOf(usd(1_740)).reducing?.maxRelayFee).toBe(26_100_000n)
  expect(policyOf(usd(1_740)).maxRelayFee).toBe(5_000_000n)
  expect(policyOf(usd(1_740)).reducing?.maxExecutionFee).toBe(10n ** 16n)
  const avalanche = policyOf(usd(10), ['--venue.chain', 'avalanche', '--signing.maxExecutionFee', '3'])
  expect(avalanche.reducing?.maxRelayFee).toBe(45_000_000n)
})

test('what a close may cost never falls below what an increase may, and a price that nobody knows holds none back', () => {
  expect(policyOf(usd(1)).reducing?.maxRelayFee).toBe(5_000_000n)
  expect(policyOf(undefined).reducing?.maxRelayFee).toBe(150_000_000n)
  const avalanche = policyOf(undefined, ['--venue.chain', 'avalanche', '--signing.maxExecutionFee', '3'])
  expect(avalanche.reducing?.maxRelayFee).toBe(900_000_000n)
})

test('a close may be priced farther from ours than an increase', () => {
  const { priceToleranceBps, reducing } = policyOf(usd(1_740))
  expect([priceToleranceBps, reducing?.priceToleranceBps]).toEqual([100, 200])
})

test('what a close may cost follows the price at each asking', () => {
  const ask = signingPolicyOf(loadConfig({ argv: [], env: {}, cwd }).config)
  const at = (price: number) =>
    ask({ swapMarkets: new Map(), nativePriceUsd: usd(price) }).reducing?.maxRelayFee
  expect([1_740, 1_740, 3_480, 1_740].map(at)).toEqual([26_100_000n, 26_100_000n, 52_200_000n, 26_100_000n])
})
