/**
 * The file of the equity's curve, beside the journal. It is of its own because the journal has no such figures: its marks are written
 * when a peak or a day changes, and a record for each figure would cost the orders' own log. It decides nothing, so that one that is
 * lost or broken costs the picture alone.
 */
import { readFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { warnOnce } from '../../base/warnOnce.ts'
import type { EquityPoint } from '../../control/console/equitySeries.ts'
import type { EquityStore } from '../../control/console/webConsole.ts'

/** Longest file that is believed, characters; 5,000 points take a fifth of it. */
const MOST_CHARACTERS = 2_000_000
const kept = z.strictObject({
  version: z.literal(1),
  account: z.string(),
  points: z.array(z.tuple([z.int().nonnegative(), z.string().regex(/^-?\d{1,60}$/)])),
})

/**
 * The curve of one account in a file, which is replaced whole or not at all and is its owner's alone.
 *
 * @param path beside the journal
 * @param account whose figures these are; those of another are not read
 * @param warn told once for each way in which it goes wrong
 */
export function equityFile(path: string, account: string, warn: (text: string) => void): EquityStore {
  const say = warnOnce(path, warn)
  return {
    read() {
      try {
        const text = textOf(path)
        return text === undefined ? [] : pointsOf(text, account)
      } catch (error) {
        say('the equity curve starts over: its saved file cannot be read', error)
        return []
      }
    },
    async keep(points) {
      const beside = `${path}.new`
      try {
        await rm(beside, { force: true })
        const file = await open(beside, 'wx', 0o600)
        try {
          await file.writeFile(textFor(points, account))
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(beside, path)
      } catch (error) {
        say('the equity curve cannot be saved', error)
      }
    },
  }
}

function textFor(points: readonly EquityPoint[], account: string): string {
  const rows = points.map(({ atMs, equityUsd }) => [atMs, String(equityUsd)])
  return `${JSON.stringify({ version: 1, account, points: rows })}\n`
}

/** The text of the file; undefined where there is none. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function pointsOf(text: string, account: string): readonly EquityPoint[] {
  if (text.length > MOST_CHARACTERS) throw new RangeError('it is longer than perpd writes it')
  const file = kept.safeParse(JSON.parse(text))
  if (!file.success) throw new TypeError('it is not of the form that perpd writes')
  if (file.data.account !== account) throw new TypeError(`it is of another account, ${file.data.account}`)
  const points = file.data.points.map(([atMs, equityUsd]) => ({ atMs, equityUsd: BigInt(equityUsd) }))
  const isInOrder = points.every(({ atMs }, at) => at === 0 || atMs > (points[at - 1]?.atMs ?? 0))
  if (!isInOrder) throw new TypeError('its figures are not in order')
  return points
}
