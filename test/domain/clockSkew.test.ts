/** Our clock against the hosts': one of them alone neither denies nor allows. */
import { expect, test } from 'vitest'
import { medianSkewMs } from '../../src/domain/clockSkew.ts'

test.each([
  ['one API host of two lies by an hour', [3_600_000, 200, -150], 200],
  ['one of two hosts lies', [3_600_000, 200], 200],
  ['one of two lies the other way', [-3_600_000, 200], 200],
  ['one of five lies', [0, 100, -3_600_000, 50, 20], 20],
  ['no host has answered', [], 0],
])('%s: our clock is right', (_name, readings, expected) => {
  expect(medianSkewMs(readings)).toBe(expected)
})

test.each([
  ['all hosts say so', [120_000, 120_400, 119_900], 120_000],
  ['all but one say so', [120_000, 0, 119_900, 121_000], 119_900],
  ['the only host says so', [120_000], 120_000],
  ['both hosts say so', [-120_000, -121_000], -120_000],
])('%s: our clock is wrong, and increases wait', (_name, readings, expected) => {
  expect(medianSkewMs(readings)).toBe(expected)
})
