/** Bodies of a polled route, from the paper venue's own rows: one every few seconds of its clock. */
import type { Clock } from '../src/base/clock.ts'
import { createVenue } from '../src/paper/server/venue.ts'
import { arbitrum } from '../src/protocol/chains/arbitrum.ts'

/** How bodies are polled. */
export interface Polling {
  /** `/markets/values` */
  readonly route: string
  readonly markets: number
  readonly polls: number
  /** Between polls, on the venue's clock. */
  readonly everyMs: number
}

/** Answers of one route, polled from a paper venue in this process on a clock that jumps. */
export async function pollBodies({ route, markets, polls, everyMs }: Polling): Promise<readonly string[]> {
  let nowMs = Date.UTC(2026, 10, 20, 12)
  const clock: Clock = { now: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve() }
  const venue = createVenue({ clock, chain: arbitrum })
  const bodies: string[] = []
  for (let poll = 0; poll < polls; poll++) {
    venue.advance()
    const answer = await venue.fetch(new Request(`http://venue${venue.paths.api[0]}${route}`))
    const rows = JSON.parse(await answer.text()) as readonly unknown[]
    if (rows.length < markets) throw new Error(`the paper venue lists only ${rows.length} markets`)
    bodies.push(JSON.stringify(rows.slice(0, markets)))
    nowMs += everyMs
  }
  return bodies
}

/** Share of the fields of a body that have the same text as in the body before, in per cent. */
export function repeatedPercent(bodies: readonly string[]): number {
  let all = 0
  let same = 0
  let before: readonly Record<string, unknown>[] | undefined
  for (const body of bodies) {
    const rows = JSON.parse(body) as readonly Record<string, unknown>[]
    for (const [index, row] of rows.entries()) {
      const was = before?.[index]
      if (was === undefined) continue
      for (const [name, value] of Object.entries(row)) {
        all += 1
        if (JSON.stringify(value) === JSON.stringify(was[name])) same += 1
      }
    }
    before = rows
  }
  return all === 0 ? 0 : (same / all) * 100
}
