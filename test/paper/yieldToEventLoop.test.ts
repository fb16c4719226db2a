/** Long answers do not hold the venue: others are answered while they are made, and they are the same. */
import { expect, test } from 'vitest'
import { startVenue } from './support.ts'

const longReads = [
  '/rates?period=total',
  '/apy?period=total',
  '/performance/snapshots?period=total',
  '/yield/gm-pools?period=total',
  '/stats/summary',
]

test('many short reads are answered while a long one is made, one after the other', async () => {
  const paper = await startVenue()
  const at = (path: string) => new Request(`http://paper${paper.venue.paths.api[0]}${path}`)
  for (const path of longReads) {
    let isMade = false
    const long = paper.venue.fetch(at(path)).then((answer) => {
      isMade = true
      return answer
    })
    let short = 0
    while (!isMade) {
      expect((await paper.venue.fetch(at('/incentives/usdg/boost-apr'))).status).toBe(200)
      short += 1
      // The turn of the process that a request over a socket takes.
      await new Promise(setImmediate)
    }
    expect((await long).status).toBe(200)
    expect(short, path).toBeGreaterThan(10)
  }
  await paper.close()
})

test('a long read that was asked twice at once answers the same, once made for both or twice', async () => {
  const paper = await startVenue()
  const [one, other] = await Promise.all([
    paper.get('/rates?period=90d&averageBy=7d'),
    paper.get('/rates?period=90d&averageBy=7d'),
  ])
  expect(one.status).toBe(200)
  expect(other.body).toEqual(one.body)
  await paper.close()
})
