/** The bar of long work: what it says, and that it fits its line. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { progressLine, whileReading } from '../../src/cli/output/progressBar.ts'

test('a bar says how much is done and how long the rest takes at this pace', () => {
  expect(progressLine(25_000, 100_000, 1_000, 80)).toBe(
    '[######                  ] 25 %, 25,000 of 100,000, 3 s left',
  )
  expect(progressLine(0, 10, 0, 80)).toBe(`[${' '.repeat(24)}] 0 %, 0 of 10`)
})

test('a bar never leaves its line', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 0, max: 200 }),
      (done, total, ms, columns) => {
        const line = progressLine(done, total, ms, columns)
        expect(line.length).toBeLessThanOrEqual(columns)
        expect(line).not.toMatch(/NaN|Infinity/)
      },
    ),
  )
})

/** A terminal that keeps what is written to it, and a clock that goes on by itself, 1 ms a look. */
function placed({
  stderr = true,
  stdout = false,
  term = 'xterm',
  columns,
}: {
  readonly stderr?: boolean
  readonly stdout?: boolean
  readonly term?: string
  readonly columns?: number
} = {}) {
  const written: string[] = []
  let nowMs = 0
  const write = (text: string) => void written.push(text)
  const place = {
    screens: {
      stderr: { isTTY: stderr, write, ...(columns === undefined ? {} : { columns }) },
      stdout: { isTTY: stdout },
      term,
    },
    monotonicMs: () => nowMs,
  }
  /** 256 pieces of work are done every 100 ms, until so many of 10,240. */
  const work = (progress: (done: number, total: number) => void, until = 10_240) => {
    for (let done = 1; done <= until; done += 1) {
      if (done % 256 === 0) nowMs += 100
      progress(done, 10_240)
    }
    return 'done'
  }
  return { written, place, work }
}

const cleared = '\r\u001b[K'

test('a bar is drawn over itself as the work goes on, and is gone when it is done', async () => {
  const { written, place, work } = placed()
  expect(await whileReading(async (progress) => work(progress), false, place)).toBe('done')
  expect(written.at(0)).toBe('\r[###                     ] 12 %, 1,280 of 10,240, 3.5 s left\u001b[K')
  expect(written.at(-2)).toBe('\r[########################] 100 %, 10,240 of 10,240, 0 ms left\u001b[K')
  expect(written.at(-1)).toBe(cleared)
  expect(written).toHaveLength(37)
})

test('a bar is as wide as its terminal, and as the usual one where that does not say its width', async () => {
  for (const [columns, widest] of [
    [40, 39],
    [0, 79],
  ] as const) {
    const { written, place, work } = placed({ columns })
    await whileReading(async (progress) => work(progress), false, place)
    for (const line of written) expect(line.length - cleared.length).toBeLessThanOrEqual(widest)
    expect(written.length).toBeGreaterThan(2)
  }
})

test('work that fails leaves no bar behind, and work that ends at once has none', async () => {
  const failing = placed()
  const fail = async (progress: (done: number, total: number) => void) => {
    failing.work(progress, 5_000)
    throw new Error('the disk is full')
  }
  await expect(whileReading(fail, false, failing.place)).rejects.toThrow('the disk is full')
  expect(failing.written.length).toBeGreaterThan(2)
  expect(failing.written.at(-1)).toBe(cleared)
  const short = placed()
  await whileReading(async (progress) => short.work(progress, 1_000), false, short.place)
  expect(short.written).toEqual([])
})

test('a bar is drawn on a terminal alone, and not between lines of work that prints to a screen', async () => {
  const isDrawn = async (where: Parameters<typeof placed>[0], prints: boolean) => {
    const { written, place, work } = placed(where)
    await whileReading(async (progress) => work(progress), prints, place)
    return written.length > 0
  }
  expect(await isDrawn({ stdout: true }, false)).toBe(true)
  expect(await isDrawn({}, true)).toBe(true)
  expect(await isDrawn({ stdout: true }, true)).toBe(false)
  expect(await isDrawn({ stderr: false, stdout: true }, false)).toBe(false)
  expect(await isDrawn({ term: 'dumb' }, true)).toBe(false)
})

test('a start draws how far the journal is read until it is, unless its log is on a screen', async () => {
  const { written, place, work } = placed()
  const isGone = await whileReading(
    async (progress) => {
      work(progress)
      await Promise.resolve()
      return written.at(-1) === cleared
    },
    true,
    place,
  )
  expect(isGone).toBe(false)
  expect(written.at(-1)).toBe(cleared)
  const logged = placed({ stdout: true })
  await whileReading(async (progress) => logged.work(progress), true, logged.place)
  expect(logged.written).toEqual([])
})
