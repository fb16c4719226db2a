/** The watch over strategy files, over a real folder and a clock that the test moves. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchStrategies } from '../../src/daemon/watchStrategies.ts'

let folder = ''
let ending = new AbortController()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-watch-'))
  ending = new AbortController()
})
afterEach(() => {
  ending.abort()
  rmSync(folder, { recursive: true, force: true })
})

/** A watch whose looks the test asks for. */
function watch(paths: readonly string[]) {
  const told: number[] = []
  let isTaken = true
  let looks = 0
  let wake: (() => void) | undefined
  const pausesMs: number[] = []
  const clock = {
    sleep: async (ms: number, signal?: AbortSignal) => {
      pausesMs.push(ms)
      await new Promise<void>((resolve) => {
        wake = resolve
        signal?.addEventListener('abort', () => resolve(), { once: true })
      })
    },
  }
  const changed = async () => {
    told.push(looks)
    return isTaken
  }
  const over = watchStrategies({ paths, clock, changed, signal: ending.signal })
  return {
    told,
    pausesMs,
    over,
    refuse: (refuses: boolean) => {
      isTaken = !refuses
    },
    /** Lets it look once, to the end of the look. */
    async look() {
      while (wake === undefined) await turn()
      looks += 1
      const go = wake
      wake = undefined
      go()
      while (wake === undefined) await turn()
    },
  }
}

const put = (name: string, text: string) => writeFileSync(join(folder, name), text)

test('a change is told once it is still for a look: saved, replaced by a rename, or gone, and a kind beside its file too', async () => {
  put('one.yaml', 'kind: guard')
  const { told, look } = watch([folder])
  await look()
  // What is there at the begin is told once: it may have changed since it was read.
  expect(told).toEqual([1])
  await look()
  put('one.yaml', 'kind: guard\ncadenceSeconds: 5')
  await look()
  expect(told).toEqual([1])
  await look()
  expect(told).toEqual([1, 4])
  put('new.tmp', 'kind: guard\ncadenceSeconds: 7')
  renameSync(join(folder, 'new.tmp'), join(folder, 'one.yaml'))
  await look()
  await look()
  expect(told).toEqual([1, 4, 6])
  put('mine.ts', 'export default 1')
  await look()
  await look()
  rmSync(join(folder, 'one.yaml'))
  await look()
  await look()
  expect(told).toEqual([1, 4, 6, 8, 10])
})

test('what is no strategy file is no change, and what goes on changing waits', async () => {
  put('one.yaml', 'kind: guard')
  const { told, look } = watch([join(folder, 'one.yaml')])
  await look()
  put('notes.txt', 'hello')
  await look()
  await look()
  for (let size = 1; size < 4; size += 1) {
    put('one.yaml', `kind: guard\n#${'x'.repeat(size)}`)
    await look()
  }
  expect(told).toEqual([1])
  await look()
  expect(told).toEqual([1, 7])
})

test('what was not taken up is told again, and a folder that is not there ends nothing', async () => {
  const { told, look, refuse } = watch([folder, join(folder, 'none', 'x.yaml')])
  refuse(true)
  await look()
  await look()
  refuse(false)
  await look()
  await look()
  expect(told).toEqual([1, 2, 3])
})

test('it looks at a hundred files each second, and at more of them as much more seldom', async () => {
  put('one.yaml', 'kind: guard')
  const { pausesMs, look } = watch([folder])
  await look()
  expect(pausesMs).toEqual([1_000, 1_000])
  for (let number = 0; number < 250; number += 1) put(`trend-${number}.yaml`, 'kind: trend')
  await look()
  expect(pausesMs.at(-1)).toBe(3_000)
})
